package dev.sluice.testing;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Reads HTTP/1 strictly from one side of a connection. Not safe for threads. */
final class ByteSource {
  private static final int MOST_LINE_BYTES = 1 << 20;

  private final InputStream in;

  ByteSource(InputStream in) {
    this.in = new BufferedInputStream(in, 16 << 10);
  }

  /** The next byte, or -1 at the end. */
  int read() throws IOException {
    return in.read();
  }

  /** The next byte without taking it, or -1 at the end. */
  int peek() throws IOException {
    in.mark(1);
    int next = in.read();
    in.reset();
    return next;
  }

  /** At most that many bytes, at least one; empty at the end. */
  String some(int most) throws IOException {
    byte[] bytes = new byte[Math.min(most, 16 << 10)];
    int count = in.read(bytes);
    return count < 0 ? "" : Wire.of(bytes).substring(0, count);
  }

  /** Exactly that many bytes. */
  String exactly(int count) throws IOException {
    byte[] bytes = in.readNBytes(count);
    if (bytes.length < count) {
      throw new EOFException("after " + bytes.length + " of " + count + " bytes");
    }
    return Wire.of(bytes);
  }

  /** A line that ends in CR LF, without these. */
  String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("in a line, after: " + line);
      }
      line.append((char) next);
      if (line.length() > MOST_LINE_BYTES) {
        throw new AssertionError("endless line: " + line.substring(0, 100));
      }
    }
    if (line.isEmpty() || line.charAt(line.length() - 1) != '\r') {
      throw new AssertionError("line does not end in CR LF: " + line);
    }
    line.setLength(line.length() - 1);
    return line.toString();
  }

  /** Header lines up to the empty line. */
  List<Header> headers() throws IOException {
    List<Header> headers = new ArrayList<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      headers.add(Header.parse(line));
    }
    return List.copyOf(headers);
  }

  /** The size of the next chunk; at 0 the trailers are read too. */
  int chunkSize() throws IOException {
    String line = line();
    int extension = line.indexOf(';');
    int size = Integer.parseInt(extension < 0 ? line : line.substring(0, extension), 16);
    if (size == 0) {
      headers();
    }
    return size;
  }
}
