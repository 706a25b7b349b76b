package dev.sluice.yaml;

/** Which characters can be shown, and stand in a name. */
public final class Printable {
  private Printable() {}

  /**
   * Whether the code point shows as itself on one line: a space does, a control, a line separator,
   * an invisible format character or half a surrogate pair does not.
   */
  public static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
