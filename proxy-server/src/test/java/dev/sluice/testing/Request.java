package dev.sluice.testing;

import java.util.ArrayList;
import java.util.List;

/** The bytes of one request, well-formed unless told otherwise. Immutable. */
public final class Request {
  private final String line;
  private final List<String> headers;
  private final String body;

  private Request(String line, List<String> headers, String body) {
    this.line = line;
    this.headers = List.copyOf(headers);
    this.body = body;
  }

  /** A request without a body. */
  public static Request of(String method, String path) {
    return new Request(method + " " + path + " HTTP/1.1", List.of("Host: sluice.test"), "");
  }

  /** A GET request. */
  public static Request get(String path) {
    return of("GET", path);
  }

  /** A POST request with a JSON body. */
  public static Request post(String path, String json) {
    return of("POST", path).header("Content-Type", "application/json").body(json);
  }

  /** With another request line, as it stands. */
  public Request line(String other) {
    return new Request(other, headers, body);
  }

  /** With a bearer key. */
  public Request key(String key) {
    return without("Authorization").header("Authorization", "Bearer " + key);
  }

  /** With one more header line. */
  public Request header(String name, String value) {
    return rawHeader(name + ": " + value);
  }

  /** With one more header line, as it stands. */
  public Request rawHeader(String headerLine) {
    List<String> more = new ArrayList<>(headers);
    more.add(headerLine);
    return new Request(line, more, body);
  }

  /** Without the header lines of a name. */
  public Request without(String name) {
    List<String> fewer = new ArrayList<>(headers);
    fewer.removeIf(header -> header.regionMatches(true, 0, name + ":", 0, name.length() + 1));
    return new Request(line, fewer, body);
  }

  /** With a body of that text and its content length. */
  public Request body(String text) {
    String wire = Wire.utf8(text);
    return new Request(line, without("Content-Length").headers, wire)
        .header("Content-Length", Integer.toString(wire.length()));
  }

  /** With these bytes after the head, and no header that announces them. */
  public Request rawBody(String wire) {
    return new Request(line, without("Content-Length").headers, wire);
  }

  /** With its body in chunks of at most that many bytes. */
  public Request chunked(int chunkBytes) {
    StringBuilder chunks = new StringBuilder();
    for (int i = 0; i < body.length(); i += chunkBytes) {
      chunks.append(Wire.chunk(body.substring(i, Math.min(body.length(), i + chunkBytes))));
    }
    return rawBody(chunks.append("0\r\n\r\n").toString()).header("Transfer-Encoding", "chunked");
  }

  /** As HTTP/1.0. */
  public Request http10() {
    return line(line.replace("HTTP/1.1", "HTTP/1.0"));
  }

  /** The method. */
  public String method() {
    return line.substring(0, Math.max(0, line.indexOf(' ')));
  }

  /** The head alone, as a wire string. */
  public String head() {
    return line + "\r\n" + joined() + "\r\n";
  }

  private String joined() {
    StringBuilder lines = new StringBuilder();
    for (String header : headers) {
      lines.append(header).append("\r\n");
    }
    return lines.toString();
  }

  /** What follows the head, as a wire string. */
  public String body() {
    return body;
  }

  /** The whole request, as a wire string. */
  public String wire() {
    return head() + body;
  }
}
