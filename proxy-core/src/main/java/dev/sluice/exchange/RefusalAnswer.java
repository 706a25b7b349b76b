package dev.sluice.exchange;

import dev.sluice.cluster.Endpoint;
import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.message.UpstreamAnswer;
import java.util.Optional;

/** An answer that says what is wrong with the request: its message is passed on in our shape. */
final class RefusalAnswer extends CollectedAnswer {
  private static final int MAX_BYTES = 64 << 10;

  private final Endpoint endpoint;
  private final Failure failure;

  /**
   * @param failure what is answered where the upstream gives no message of its own
   */
  RefusalAnswer(Exchange exchange, Endpoint endpoint, Failure failure, BodyFraming framing) {
    super(exchange, framing, MAX_BYTES);
    this.endpoint = endpoint;
    this.failure = failure;
  }

  @Override
  void whole() {
    Look.at(
        exchange,
        held,
        (bytes, offset, length) ->
            Optional.ofNullable(UpstreamAnswer.errorMessage(bytes, offset, length)),
        this::refuse);
  }

  private void refuse(Optional<String> message) {
    exchange.refuse(
        message
            .filter(text -> !tellsWhereItIs(text))
            .map(text -> Failure.of(failure.reason(), text))
            .orElse(failure));
  }

  /** Whether it holds what no message may: the upstream's host, or its credential. */
  private boolean tellsWhereItIs(String message) {
    String credential = endpoint.credential();
    return holdsWord(message, endpoint.host())
        || (credential != null && message.contains(credential));
  }

  /** Whether a text holds a word, in any case: a host may be named as a part of other words. */
  private static boolean holdsWord(String text, String word) {
    for (int at = 0; at + word.length() <= text.length(); at++) {
      int after = at + word.length();
      if (text.regionMatches(true, at, word, 0, word.length())
          && (at == 0 || !Character.isLetterOrDigit(text.charAt(at - 1)))
          && (after == text.length() || !Character.isLetterOrDigit(text.charAt(after)))) {
        return true;
      }
    }
    return false;
  }

  @Override
  void tooMuch(HeldBody.Added why) {
    exchange.refuse(failure);
  }

  @Override
  void broken(Failure broken) {
    exchange.refuse(failure);
  }
}
