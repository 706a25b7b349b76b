package dev.sluice.accesslog;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Where lines are written. Used by one thread. */
interface LogOutput extends Closeable {

  /**
   * Opens the place anew where it is not open, or where lines written now would not be found under
   * its name.
   *
   * @return whether it was opened anew
   * @throws IOException when it cannot be opened; what was open stays open
   */
  boolean reopenIfMoved() throws IOException;

  /**
   * Writes some of the bytes, at least one, and moves the position past them.
   *
   * @throws IOException when nothing could be written
   */
  void write(ByteBuffer bytes) throws IOException;
}
