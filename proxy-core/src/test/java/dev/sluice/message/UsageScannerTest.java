package dev.sluice.message;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageScannerTest {
  private static final String WORDS =
      "data: {'id':'c','model':'gpt-oss','choices':[{'delta':{'content':' going to use usage'}}],"
          + "'usage':null}\n\n";

  private static final String CHAT =
      WORDS
          + WORDS
          + "data: {'id':'c','choices':[],'usage':{'prompt_tokens':1200,'total_tokens':1234,"
          + "'completion_tokens':34,'prompt_tokens_details':{'cached_tokens':1000,"
          + "'prompt_tokens':5},'completion_tokens_details':{'completion_tokens':[7,'}']}},"
          + "'obfuscation':'x'}\n\ndata: [DONE]\n\n";

  private static final String MESSAGES =
      "event: message_start\ndata: {'type':'message_start','message':{'id':'m','content':[],"
          + "'usage':{'input_tokens':25,'cache_creation_input_tokens':100,"
          + "'cache_read_input_tokens':2000,'cache_creation':{'ephemeral_5m_input_tokens':100},"
          + "'output_tokens':1,'service_tier':'standard'}}}\n\n"
          + "event: content_block_delta\ndata: {'type':'content_block_delta','index':0,"
          + "'delta':{'type':'text_delta','text':'age'}}\n\n"
          + "event: message_delta\ndata: {'type':'message_delta','delta':{'stop_reason':'end_turn'},"
          + "'usage':{'output_tokens':15}}\n\nevent: message_stop\ndata: {}\n\n";

  @Test
  void aStreamInAnyPiecesTellsTheSame() {
    for (boolean chat : new boolean[] {true, false}) {
      String stream = chat ? CHAT : MESSAGES;
      Usage expected = chat ? new Usage(1200, 34) : new Usage(2125, 15);
      for (int cut = 0; cut <= stream.length(); cut++) {
        assertThat(scan(stream.substring(0, cut), stream.substring(cut)))
            .as("cut at %d", cut)
            .isEqualTo(expected);
      }
      assertThat(scan(stream.split("(?!^)"))).isEqualTo(expected);
    }
  }

  @Test
  void whatAStreamSaysCountsFromTheEndOfTheObjectOn() {
    int behind = MESSAGES.indexOf("}}}\n") + 1;
    assertThat(scan(MESSAGES.substring(0, behind - 1))).isEqualTo(Usage.NONE);
    assertThat(scan(MESSAGES.substring(0, behind))).isEqualTo(new Usage(2125, 1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'usage':{'input_tokens':1,'output_tokens':2}}                          | 1  | 2",
        "{ 'usage' :\t{ 'input_tokens' : 1 , 'output_tokens' : 2 } }             | 1  | 2",
        "{'usage':{'input_tokens':1}} {'usage':{'output_tokens':2}}              | 1  | 2",
        "{'usage':{'output_tokens':9}} {'usage':{'output_tokens':2}}             | -1 | 2",
        "{'usage':{'output_tokens':9,'output_tokens':2}}                         | -1 | 2",
        "{'usage':{'output_tokens':0}}                                           | -1 | 0",
        "{'usage':{'output_tokens':1000000000}}                                  | -1 | 1000000000",
        "{'usage':{'cache_read_input_tokens':5}}                                 | -1 | -1",
        "{'x':'usage','usage':{'output_tokens':2}}                               | -1 | 2",
        "{'usage''usage':{'output_tokens':2}}                                    | -1 | 2",
        "{'usage':{'a':'\\\\','b':'\\'}','output_tokens':2}}                     | -1 | 2",
        "{'usage':{'a':[{'b':['}',']',{}]}],'output_tokens':2}}                  | -1 | 2",
        "{'usage':{'a':null,'b':true,'c':-1.5e+9,'d':{},'output_tokens':2}}      | -1 | 2",
        "{'usage':{'input_tokens':-1,'output_tokens':2}}                         | -1 | 2",
        "{'usage':{'input_tokens':1.5,'output_tokens':2}}                        | -1 | 2",
        "{'usage':{'input_tokens':1e2,'output_tokens':2}}                        | -1 | 2",
        "{'usage':{'input_tokens':'7','output_tokens':2}}                        | -1 | 2",
        "{'usage':{'input_tokens':1000000001,'output_tokens':2}}                 | -1 | 2",
        "{'usage':{'input_tokens':99999999999999999999999999,'output_tokens':2}} | -1 | 2",
        "{'usage':{'input_tokens':18446744073709551617,'output_tokens':2}}       | -1 | 2",
      })
  void whatCanBeCountedIs(String json, long input, long output) {
    String stream = "data: " + json + "\n\n";
    assertThat(scan(stream)).isEqualTo(new Usage(input, output));
    assertThat(scan(stream.split("(?!^)"))).isEqualTo(new Usage(input, output));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'usage':null}",
        "{'usage':[{'output_tokens':2}]}",
        "{'usage':7,'x':{'output_tokens':2}}",
        "{'usage',{'output_tokens':2}}",
        "{'usage':{'output_tokens':2",
        "{'usage':{'output_tokens':2\n}}",
        "{'usage':\n{'output_tokens':2}}",
        "{'usage':{'output_tokens' 2}}",
        "{'usage':{'output_tokens':}}",
        "{'usage':{output_tokens:2}}",
        "{'usage':{'output_tokens':2 3}}",
        "{'usage':{'a':'b' 'c','output_tokens':2}}",
        "{'usage':{}}",
        "{'usage':{'Output_tokens':2,'output_tokens ':3,'output_token':4,'':5}}",
        "{'usage':{'a':'output_tokens:2','b':{'output_tokens':2}}}",
        "{'Usage':{'output_tokens':2}}",
        "{'usages':{'output_tokens':2}}",
        "{'content':'\\'usage\\':{\\'output_tokens\\':2}'}",
        "{'content':'usage',':':{'output_tokens':2}}",
      })
  void whatIsNoStatementTellsNothing(String json) {
    assertThat(scan("data: " + json + "\n\n")).isEqualTo(Usage.NONE);
    assertThat(scan(("data: " + json + "\n\n").split("(?!^)"))).isEqualTo(Usage.NONE);
  }

  @Test
  void brokenObjectsDoNotHideALaterOne() {
    for (String broken :
        List.of(
            "{'usage':{'input_tokens':1,'a':'\\\n",
            "{'usage':{'input_tokens':1,'a':[[[{\n",
            "{'usage'\n",
            "{'usage':\n",
            "{'usage':{'a':'" + "x".repeat(UsageScanner.MAX_OBJECT_BYTES),
            "{'usage':{'a':" + "[".repeat(1_000_000),
            "{'usage':{'" + "'usage':{'".repeat(1_000))) {
      assertThat(scan("data: " + broken + "\ndata: {'usage':{'output_tokens':2}}\n\n"))
          .as(broken.length() > 99 ? broken.substring(0, 99) : broken)
          .isEqualTo(new Usage(Usage.UNKNOWN, 2));
    }
  }

  @Test
  void anObjectAsLongAsMayBeIsRead() {
    String begin = "'usage':{'output_tokens':2,'a':'";
    int fill = UsageScanner.MAX_OBJECT_BYTES - begin.length() + "'usage'".length() - 2;
    assertThat(scan(begin + "x".repeat(fill) + "'}")).isEqualTo(new Usage(Usage.UNKNOWN, 2));
    assertThat(scan(begin + "x".repeat(fill + 1) + "'}")).isEqualTo(Usage.NONE);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noBytesInAnyPiecesMakeItThrowAndThePiecesDoNotMatter(long seed) {
    Random random = new Random(seed);
    String[] tokens = {
      "'usage'",
      "'usage",
      "usage'",
      ":",
      "{",
      "}",
      "'output_tokens'",
      "'input_tokens'",
      "7",
      "12",
      ",",
      "'",
      "\\",
      " ",
      "[",
      "]",
      "g",
      "\n",
      "-",
      "data: ",
      "'usage':{'output_tokens':3}"
    };
    for (int round = 0; round < 20_000; round++) {
      StringBuilder stream = new StringBuilder();
      for (int i = random.nextInt(40); i >= 0; i--) {
        stream.append(tokens[random.nextInt(tokens.length)]);
      }
      int first = random.nextInt(stream.length() + 1);
      int second = first + random.nextInt(stream.length() - first + 1);
      assertThat(
              scan(
                  stream.substring(0, first),
                  stream.substring(first, second),
                  stream.substring(second)))
          .as("seed %d, round %d: %s", seed, round, stream)
          .isEqualTo(scan(stream.toString().split("(?!^)")));
    }
  }

  @Test
  void newsIsToldOnce() {
    UsageScanner scanner = new UsageScanner();
    feed(scanner, WORDS);
    assertThat(scanner.hasChanged()).isFalse();
    feed(scanner, CHAT);
    assertThat(scanner.hasChanged()).isTrue();
    scanner.usage();
    assertThat(scanner.hasChanged()).isFalse();
  }

  @Test
  void anEventLeavesNoGarbage() {
    ByteBuf event = Unpooled.directBuffer().writeBytes(Bodies.bytes(WORDS));
    UsageScanner scanner = new UsageScanner();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    int events = 10_000;
    for (int i = 0; i < events; i++) {
      scanner.scan(event, 0, event.readableBytes());
    }
    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < events; i++) {
      scanner.scan(event, 0, event.readableBytes());
    }
    long bytes = threads.getThreadAllocatedBytes(thread) - before;
    event.release();

    assertThat(bytes / events).isZero();
  }

  private static Usage scan(String... pieces) {
    UsageScanner scanner = new UsageScanner();
    for (String piece : pieces) {
      feed(scanner, piece);
    }
    return scanner.usage();
  }

  private static void feed(UsageScanner scanner, String quoted) {
    byte[] bytes = Bodies.bytes(quoted);
    // Something stands on both sides, as in a read buffer, which must not be taken for a part of
    // it.
    ByteBuf in = Unpooled.directBuffer().writeBytes(Bodies.bytes("'usage'"));
    in.writeBytes(bytes).writeBytes(Bodies.bytes("'usage':{'output_tokens':99}"));
    scanner.scan(in, "'usage'".length(), bytes.length);
    in.release();
  }
}
