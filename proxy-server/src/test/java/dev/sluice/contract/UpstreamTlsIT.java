package dev.sluice.contract;

import static dev.sluice.contract.Errors.assertError;
import static dev.sluice.contract.Scene.CHAT;
import static dev.sluice.contract.Scene.chat;
import static dev.sluice.contract.Scene.stream;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.Answer;
import dev.sluice.testing.Answer.Ending;
import dev.sluice.testing.Certificate;
import dev.sluice.testing.RawClient;
import dev.sluice.testing.Recorded;
import dev.sluice.testing.Script;
import dev.sluice.testing.ScriptedUpstream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** TLS to an upstream: only to one that proves to be the host it is configured as. */
class UpstreamTlsIT {
  private static final Certificate TRUSTED = new Certificate("localhost");
  private static final Certificate UNTRUSTED = new Certificate("localhost");
  private static final ScriptedUpstream GOOD = ScriptedUpstream.startTls(TRUSTED.context());
  private static final ScriptedUpstream BAD = ScriptedUpstream.startTls(UNTRUSTED.context());

  @RegisterExtension
  static final Scene SCENE =
      new Scene()
          .jvmFlag("-Djavax.net.ssl.trustStore=" + TRUSTED.file())
          .jvmFlag("-Djavax.net.ssl.trustStorePassword=" + Certificate.PASSWORD)
          .model(model("tls", "localhost", GOOD))
          .model(model("tls-untrusted", "localhost", BAD))
          .model(model("tls-other-name", "127.0.0.1", GOOD));

  /** With time for the first handshake of two cold processes. */
  private static String model(String name, String host, ScriptedUpstream upstream) {
    return "%s: {timeouts: {connect: 1m}, upstreams: [{url: 'https://%s:%d'}]}"
        .formatted(name, host, upstream.port());
  }

  @AfterAll
  static void close() {
    try (Certificate trusted = TRUSTED;
        Certificate untrusted = UNTRUSTED) {
      assertThat(trusted.file()).isNotEqualTo(untrusted.file());
      GOOD.close();
      BAD.close();
      GOOD.assertNoFaults();
    }
  }

  @Test
  void anUpstreamWithATrustedCertificateOfItsNameIsUsed() {
    GOOD.answers(Script.json("{\"over\":\"tls\"}"), Script.stream("data: 1\n\n", Script.DONE));
    try (RawClient client = SCENE.client()) {
      assertThat(client.exchange(chat("tls")).text()).isEqualTo("{\"over\":\"tls\"}");
      assertThat(client.exchange(stream(CHAT, "tls")).text())
          .isEqualTo("data: 1\n\n" + Script.DONE);
      Recorded first = GOOD.take();
      assertThat(first.header("host")).isEqualTo("localhost:" + GOOD.port());
      assertThat(GOOD.take().connection()).isEqualTo(first.connection());
    }
  }

  @Test
  void aStreamOverTlsThatIsCutIsABrokenOne() {
    GOOD.answers(Script.raw(Script.streamHead() + Script.chunks("data: 1\n\n")).thenClose());

    Answer answer = SCENE.exchange(stream(CHAT, "tls"));

    assertThat(answer.ending()).isEqualTo(Ending.BROKEN_OFF);
    Errors.assertErrorEvent(answer.text(), false, 502, answer.header("x-request-id"));
  }

  @Test
  void anUpstreamWhoseCertificateIsNotTrustedIsNotUsed() {
    assertError(SCENE.exchange(chat("tls-untrusted")), 503);
    assertError(SCENE.exchange(stream(CHAT, "tls-untrusted")), 503);
    assertThat(BAD.waiting()).isZero();
  }

  @Test
  void anUpstreamWhoseCertificateIsOfAnotherNameIsNotUsed() {
    GOOD.answers();
    assertError(SCENE.exchange(chat("tls-other-name")), 503);
    assertThat(GOOD.waiting()).isZero();
  }
}
