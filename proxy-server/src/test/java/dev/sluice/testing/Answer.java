package dev.sluice.testing;

import java.util.List;
import java.util.Map;

/**
 * One answer as it came off the wire.
 *
 * @param version the version in its status line
 * @param status its status
 * @param headers its header lines in order
 * @param body its body as a wire string, without framing
 * @param ending how its body ended
 */
public record Answer(String version, int status, List<Header> headers, String body, Ending ending) {

  /** How the body of an answer ended. */
  public enum Ending {
    /** Where the framing said: the content length, the last chunk, or no body at all. */
    WHOLE,
    /** With the connection, and no framing said otherwise. */
    UNTIL_CLOSE,
    /** With the connection, though the framing promised more. */
    BROKEN_OFF
  }

  /** The values of all header lines of that name. */
  public List<String> headers(String name) {
    return Header.values(headers, name);
  }

  /** The value of the only header line of that name; fails where there is none or more. */
  public String header(String name) {
    List<String> values = headers(name);
    if (values.size() != 1) {
      throw new AssertionError(name + ": " + values + " (expected: one) in " + this);
    }
    return values.get(0);
  }

  /** The body as text. */
  public String text() {
    return Wire.text(body);
  }

  /** The body as the JSON object it is. */
  public Map<String, Object> json() {
    return Json.object(text());
  }

  Answer withBody(String body, Ending ending) {
    return new Answer(version, status, headers, body, ending);
  }
}
