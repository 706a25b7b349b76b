package dev.sluice.page;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The files of one page, from the jar. Immutable. */
public final class PageFiles {
  private static final String STYLE = "page.css";
  private static final String ICON = "icon.svg";
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private final Map<String, Reply> byPath = new LinkedHashMap<>();

  private PageFiles() {}

  /**
   * Reads the files of a page: its HTML at {@code /}, and its script, the style and the icon by
   * their names.
   *
   * @param page the name of its HTML and of its script, without an ending
   */
  public static PageFiles of(String page) {
    PageFiles files = new PageFiles();
    files.byPath.put("/", file(page + ".html"));
    for (String name : new String[] {page + ".js", "live.js", STYLE, ICON}) {
      files.byPath.put("/" + name, file(name));
    }
    return files;
  }

  private static Reply file(String name) {
    try (InputStream in = PageFiles.class.getResourceAsStream("/pages/" + name)) {
      if (in == null) {
        throw new IllegalStateException("pages/" + name + ": none (expected: a file in the jar)");
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
      return new Reply(200, String.valueOf(type), Map.of(), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file at a path; null where there is none. */
  public @Nullable Reply find(String path) {
    return byPath.get(path);
  }
}
