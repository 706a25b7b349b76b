package dev.sluice.sse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventScannerTest {
  private static final int FUZZ_ROUNDS = 3000;

  /** What a stream came to: where its events end, and how many there were. */
  private record Seen(List<Integer> boundaries, long events) {}

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // r stands for CR, n for LF
        "data: xnn             | 9       | 1",
        "data: xrnrn           | 11      | 1",
        "data: xrr             | 9       | 1",
        "data: xrnn            | 10      | 1",
        "data: xnrn            | 10      | 1",
        "data: xnr             | 9       | 1",
        "data: xrrn            | 10      | 1",
        "data: xrnr            | 10      | 1",
        "data: xn              | -1      | 0",
        "data: xr              | -1      | 0",
        "data: xrn             | -1      | 0",
        "data: x               | -1      | 0",
        "n                     | 1       | 0",
        "rn                    | 2       | 0",
        "nnn                   | 3       | 0",
        ":pignn                | 6       | 0",
        ":pignndata: xnn       | 15      | 1",
        ":pigndata: xnn        | 14      | 1",
        "data: xn:pignn        | 14      | 1",
        "datann                | 6       | 1",
        "data: xnnn            | 10      | 1",
        "data: xnndata: ynn    | 18      | 2",
        "data: xnndata: yn     | 9       | 1",
        "event: andata: bnn    | 18      | 1",
        "data: a:bnn           | 11      | 1",
      })
  void anEventEndsBehindItsEmptyLine(String stream, int lastBoundary, long events) {
    Seen seen = scan(stream.strip().replace('r', '\r').replace('n', '\n'), List.of());

    assertThat(seen.events()).isEqualTo(events);
    assertThat(
            seen.boundaries().isEmpty() ? -1 : seen.boundaries().get(seen.boundaries().size() - 1))
        .isEqualTo(lastBoundary);
  }

  @Test
  void aStreamCutAnywhereHasTheSameEvents() {
    String stream =
        ": hi\n\nevent: a\r\ndata: 1\r\n\r\ndata: 2\rdata: 3\r\rdata: 4\n\r\n\n:\n\ndata: 5\r\n\n";
    Seen whole = reference(stream);
    for (int first = 0; first <= stream.length(); first++) {
      for (int second = first; second <= stream.length(); second++) {
        assertSees(stream, List.of(first, second), whole);
      }
    }
  }

  @Test
  void anyStreamCutAnywhereHasTheEventsOfTheReference() {
    Random random = new Random(20260101);
    // Lines mostly shorter and mostly longer than a word; bytes beside CR and LF and with high
    // bits.
    List<String> alphabets =
        List.of("\r\r\r\n\n\n\n:ax", "\r\n\n:axyz\u008d\u008a\u000c\u000e\u0009\u000b\u00ff\u0000");
    for (int round = 0; round < FUZZ_ROUNDS; round++) {
      String alphabet = alphabets.get(round % alphabets.size());
      StringBuilder stream = new StringBuilder();
      for (int i = random.nextInt(60); i > 0; i--) {
        stream.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      List<Integer> cuts = new ArrayList<>();
      for (int i = random.nextInt(6); i > 0; i--) {
        cuts.add(random.nextInt(stream.length() + 1));
      }
      cuts.sort(null);
      assertSees(stream.toString(), cuts, reference(stream.toString()));
    }
  }

  @Test
  void aLineEndIsFoundWhereverItStandsInALongLine() {
    for (String end : List.of("\n\n", "\r\n\r\n")) {
      for (int length = 0; length < 40; length++) {
        for (int before = 0; before < 8; before++) {
          String stream = "x".repeat(before) + "data: " + "y".repeat(length) + end + "data: z";
          EventScanner scanner = new EventScanner(Terminator.NONE);
          ByteBuf in = Bytes.of(stream);
          assertThat(scanner.scan(in, before, stream.length() - before))
              .isEqualTo(stream.length() - "data: z".length());
          in.release();
        }
      }
    }
  }

  @Test
  void bytesOutsideTheStretchAreNotLookedAt() {
    EventScanner scanner = new EventScanner(Terminator.NONE);
    ByteBuf in = Bytes.of("\n\ndata: x\n\n");

    assertThat(scanner.scan(in, 2, 7)).isEqualTo(-1);
    assertThat(scanner.scan(in, 9, 0)).isEqualTo(-1);
    assertThat(scanner.scan(in, 9, 2)).isEqualTo(11);
    assertThat(scanner.events()).isEqualTo(1);
    in.release();
  }

  /**
   * A read tells its last boundary alone, so those are compared that are last in their piece. An
   * event that ends with CR is known to end there before it is known that an LF follows.
   */
  private static void assertSees(String stream, List<Integer> cuts, Seen reference) {
    Seen seen = scan(stream, cuts);
    assertThat(seen.events()).as("%s cut at %s", stream, cuts).isEqualTo(reference.events());
    List<Integer> expected = new ArrayList<>();
    int from = 0;
    for (int i = 0; i <= cuts.size(); i++) {
      int to = i < cuts.size() ? cuts.get(i) : stream.length();
      int last = -1;
      for (int boundary : reference(stream.substring(0, to)).boundaries()) {
        last = boundary > from ? boundary : last;
      }
      if (last >= 0) {
        expected.add(last);
      }
      from = to;
    }
    assertThat(seen.boundaries()).as("%s cut at %s", stream, cuts).isEqualTo(expected);
  }

  private static Seen scan(String stream, List<Integer> cuts) {
    EventScanner scanner = new EventScanner(Terminator.NONE);
    ByteBuf in = Bytes.of(stream);
    List<Integer> boundaries = new ArrayList<>();
    int from = 0;
    for (int i = 0; i <= cuts.size(); i++) {
      int to = i < cuts.size() ? cuts.get(i) : stream.length();
      int boundary = scanner.scan(in, from, to - from);
      if (boundary >= 0) {
        boundaries.add(boundary);
      }
      from = to;
    }
    in.release();
    return new Seen(boundaries, scanner.events());
  }

  /** Line by line, as the standard says it. */
  private static Seen reference(String stream) {
    List<Integer> boundaries = new ArrayList<>();
    long events = 0;
    boolean field = false;
    int start = 0;
    int at = 0;
    while (at < stream.length()) {
      char c = stream.charAt(at);
      if (c != '\r' && c != '\n') {
        at++;
        continue;
      }
      String line = stream.substring(start, at);
      at += c == '\r' && stream.startsWith("\n", at + 1) ? 2 : 1;
      start = at;
      if (!line.isEmpty()) {
        field |= line.charAt(0) != ':';
        continue;
      }
      boundaries.add(at);
      events += field ? 1 : 0;
      field = false;
    }
    return new Seen(boundaries, events);
  }
}
