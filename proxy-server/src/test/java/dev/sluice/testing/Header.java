package dev.sluice.testing;

import java.util.List;

/**
 * One header line.
 *
 * @param name the name as it was sent
 * @param value the value without the white space around it
 */
public record Header(String name, String value) {
  static Header parse(String line) {
    int colon = line.indexOf(':');
    if (colon < 1) {
      throw new AssertionError("not a header line: " + line);
    }
    return new Header(line.substring(0, colon), line.substring(colon + 1).strip());
  }

  static List<String> values(List<Header> headers, String name) {
    return headers.stream()
        .filter(header -> header.name().equalsIgnoreCase(name))
        .map(Header::value)
        .toList();
  }
}
