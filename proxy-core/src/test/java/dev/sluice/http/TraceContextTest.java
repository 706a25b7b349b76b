package dev.sluice.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final long SPAN = 0x00f067aa0ba902b7L;

  @ParameterizedTest
  @CsvSource({
    "00, '', 01, 01",
    "00, '', 00, 00",
    "00, '', 02, 02",
    "00, '', 03, 03",
    "00, '', ff, 03",
    "00, '', 04, 00",
    "01, '', 01, 01",
    "cc, -what-comes-later, 01, 01",
    "fe, -, 01, 01",
  })
  void theCallersTraceGoesOnFromASpanOfOurs(String version, String more, String flags, String on) {
    TraceContext context =
        of("traceparent", version + "-" + TRACE + "-b7ad6b7169203331-" + flags + more);

    assertThat(context.traceId()).isEqualTo(TRACE);
    assertThat(context.parentId()).isEqualTo(0xb7ad6b7169203331L);
    assertThat(context.isSampled()).isEqualTo(on.endsWith("1") || on.endsWith("3"));
    assertThat(written(context))
        .isEqualTo("traceparent: 00-" + TRACE + "-00f067aa0ba902b7-" + on + "\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333+-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
        "0 -0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-\u00fcaf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      })
  void whatBreaksARuleIsReplacedWithoutItsState(String parent) {
    assertIsNew(of("traceparent", parent, "tracestate", "a=1"));
  }

  @Test
  void whatIsAbsentOrStandsTwiceIsReplaced() {
    assertIsNew(of());
    assertIsNew(of("tracestate", "a=1"));
    assertIsNew(of("traceparent", PARENT, "Traceparent", PARENT, "tracestate", "a=1"));
  }

  @Test
  void noBytesMakeItThrow() {
    Random random = new Random(8);
    for (int round = 0; round < 50_000; round++) {
      StringBuilder parent = new StringBuilder(PARENT);
      for (int i = random.nextInt(3); i >= 0; i--) {
        parent.setCharAt(random.nextInt(parent.length()), (char) random.nextInt(256));
      }
      parent.setLength(random.nextInt(parent.length() + 1));
      TraceContext context = of("traceparent", parent.toString());
      assertThat(written(context))
          .matches("traceparent: 00-[0-9a-f]{32}-00f067aa0ba902b7-0[0-3]\r\n");
    }
  }

  @Test
  void aStateGoesOnAsOneLine() {
    assertThat(written(of("traceparent", PARENT, "tracestate", "a=1,b=2", "TraceState", "c=3")))
        .endsWith("-01\r\ntracestate: a=1,b=2,c=3\r\n");
    assertThat(of("traceparent", PARENT, "tracestate", "").state()).isNull();
  }

  @Test
  void ofALongStateItsFirstMembersGoOn() {
    String half = "a=" + "x".repeat(253);
    assertThat(of("traceparent", PARENT, "tracestate", half + "," + half).state())
        .isEqualTo(half + "," + half);
    assertThat(of("traceparent", PARENT, "tracestate", half + "," + half + "xx").state())
        .isEqualTo(half);
    assertThat(of("traceparent", PARENT, "tracestate", "a=" + "x".repeat(510)).state())
        .hasSize(512);
    assertThat(of("traceparent", PARENT, "tracestate", "a=" + "x".repeat(511)).state()).isNull();
    assertThat(of("traceparent", PARENT, "tracestate", "a=1,".repeat(33)).state())
        .isEqualTo("a=1,".repeat(31) + "a=1");
  }

  @Test
  void idsDoNotRepeatAndAreNotZero() {
    Set<Object> ids = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      assertThat(ids.add(of().traceId())).isTrue();
      assertThat(ids.add(TraceContext.newSpanId())).isTrue();
    }
    assertThat(ids).doesNotContain(0L, "0".repeat(32));
  }

  @Test
  void aShareOfNewTracesIsSampledAndOthersAreAsTheirCallersSay() {
    int sampled = 0;
    for (int i = 0; i < 10_000; i++) {
      sampled += TraceContext.begin(0.25).isSampled() ? 1 : 0;
      assertThat(TraceContext.begin(0).isSampled()).isFalse();
      assertThat(TraceContext.begin(1).isSampled()).isTrue();
    }
    assertThat(sampled).isBetween(2_000, 3_000); // 2500, give or take 11 standard deviations
    HttpHeaders headers =
        DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
    headers.set("traceparent", PARENT.replace("-01", "-00"));
    assertThat(TraceContext.of(headers, 1).isSampled()).isFalse();
  }

  private static void assertIsNew(TraceContext context) {
    assertThat(context.traceId()).matches("[0-9a-f]{32}").isNotEqualTo(TRACE);
    assertThat(context.parentId()).isZero();
    assertThat(context.isSampled()).isFalse();
    assertThat(context.state()).isNull();
  }

  private static TraceContext of(String... pairs) {
    HttpHeaders headers =
        DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
    for (int i = 0; i < pairs.length; i += 2) {
      headers.add(pairs[i], pairs[i + 1]);
    }
    return TraceContext.of(headers, 0);
  }

  private static String written(TraceContext context) {
    HeadWriter writer = HeadWriter.begin();
    context.write(writer, SPAN);
    ByteBuf head = writer.toBuffer(ByteBufAllocator.DEFAULT, 0);
    return Bytes.text(head);
  }
}
