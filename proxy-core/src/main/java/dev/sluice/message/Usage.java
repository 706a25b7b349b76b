package dev.sluice.message;

import java.nio.charset.StandardCharsets;

/**
 * The tokens that an upstream says an answer took.
 *
 * @param inputTokens tokens of the request, those from or for a cache included; {@link #UNKNOWN}
 * @param outputTokens tokens of the answer so far; {@link #UNKNOWN}
 */
public record Usage(long inputTokens, long outputTokens) {
  /** A number of tokens that the upstream has not told. */
  public static final long UNKNOWN = -1;

  /** An answer of which nothing is known. */
  public static final Usage NONE = new Usage(UNKNOWN, UNKNOWN);

  /** A number above this, as one that is no whole number or negative, tells nothing. */
  public static final long MAX_TOKENS = 1_000_000_000;

  /**
   * Gathers the members of {@code usage} objects, a later one in the place of an earlier: the
   * events of a stream tell the sum so far, not what was added. Names are told apart by a hash of
   * their bytes, so that one that comes in pieces needs no copy; the names that count have
   * different ones.
   */
  static final class Members {
    /** The hash of no bytes. */
    static final long NO_BYTES = 7;

    private static final long PROMPT = hash("prompt_tokens");
    private static final long INPUT = hash("input_tokens");
    private static final long CACHE_READ = hash("cache_read_input_tokens");
    private static final long CACHE_CREATION = hash("cache_creation_input_tokens");
    private static final long COMPLETION = hash("completion_tokens");
    private static final long OUTPUT = hash("output_tokens");

    private long input = UNKNOWN;
    private long cacheRead = UNKNOWN;
    private long cacheCreation = UNKNOWN;
    private long output = UNKNOWN;

    /** The hash of some bytes that have this hash, and one more. */
    static long hash(long before, byte b) {
      return before * 0x9E3779B97F4A7C15L + b;
    }

    /** The hash of a name. */
    static long hash(String name) {
      long hash = NO_BYTES;
      for (byte b : name.getBytes(StandardCharsets.US_ASCII)) {
        hash = hash(hash, b);
      }
      return hash;
    }

    /** Takes a member whose value is a number; {@link #UNKNOWN} where it is none that can be. */
    void put(long nameHash, long tokens) {
      if (tokens < 0 || tokens > MAX_TOKENS) {
        return;
      }
      if (nameHash == PROMPT || nameHash == INPUT) {
        input = tokens;
      } else if (nameHash == CACHE_READ) {
        cacheRead = tokens;
      } else if (nameHash == CACHE_CREATION) {
        cacheCreation = tokens;
      } else if (nameHash == COMPLETION || nameHash == OUTPUT) {
        output = tokens;
      }
    }

    /** Takes what others know. */
    void putAll(Members others) {
      input = later(input, others.input);
      cacheRead = later(cacheRead, others.cacheRead);
      cacheCreation = later(cacheCreation, others.cacheCreation);
      output = later(output, others.output);
    }

    private static long later(long before, long now) {
      return now == UNKNOWN ? before : now;
    }

    void clear() {
      input = UNKNOWN;
      cacheRead = UNKNOWN;
      cacheCreation = UNKNOWN;
      output = UNKNOWN;
    }

    /**
     * What they come to. Messages tells the tokens from and for its cache beside the others of the
     * input; Chat Completions tells them within.
     */
    Usage usage() {
      long all =
          input == UNKNOWN ? UNKNOWN : input + Math.max(0, cacheRead) + Math.max(0, cacheCreation);
      return new Usage(all, output);
    }
  }
}
