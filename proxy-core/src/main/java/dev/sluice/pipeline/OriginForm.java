package dev.sluice.pipeline;

import dev.sluice.http.Authority;

/** Targets in origin form, RFC 9112 section 3.2.1: path and query, whatever form was sent. */
final class OriginForm {
  private OriginForm() {}

  /** Whether it is an {@code http} or {@code https} URI with a valid authority. */
  static boolean isAbsolute(String target) {
    int start = authorityStart(target);
    return start > 0 && Authority.isValid(target.substring(start, pathStart(target, start)));
  }

  /**
   * Path and query of a target that is absolute (section 3.2.2: every server reads that form), or
   * the target itself.
   */
  static String of(String target) {
    int start = authorityStart(target);
    if (start < 0) {
      return target;
    }
    String rest = target.substring(pathStart(target, start));
    return rest.startsWith("/") ? rest : "/" + rest;
  }

  /** The path of a target in origin form, as it was sent. */
  static String path(String originForm) {
    int query = originForm.indexOf('?');
    return query < 0 ? originForm : originForm.substring(0, query);
  }

  private static int authorityStart(String target) {
    if (target.regionMatches(true, 0, "http://", 0, 7)) {
      return 7;
    }
    return target.regionMatches(true, 0, "https://", 0, 8) ? 8 : -1;
  }

  private static int pathStart(String target, int from) {
    for (int i = from; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c == '/' || c == '?') {
        return i;
      }
    }
    return target.length();
  }
}
