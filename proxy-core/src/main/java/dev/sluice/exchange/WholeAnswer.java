package dev.sluice.exchange;

import dev.sluice.error.Failure;
import dev.sluice.http.BodyFraming;
import dev.sluice.http.Pieces;
import dev.sluice.http.ResponseHead;
import dev.sluice.message.UpstreamAnswer;
import dev.sluice.message.Usage;
import io.netty.buffer.ByteBuf;
import java.util.Optional;

/** A JSON answer: checked whole before its status is sent, then sent as it came. */
final class WholeAnswer extends CollectedAnswer {
  /** Most bytes of an answer that is not a stream. */
  static final int MAX_BYTES = 32 << 20;

  private final ResponseHead head;

  WholeAnswer(Exchange exchange, ResponseHead head, BodyFraming framing) {
    super(exchange, framing, MAX_BYTES);
    this.head = head;
  }

  @Override
  void whole() {
    Look.at(exchange, held, UpstreamAnswer::read, this::checked);
  }

  private void checked(Optional<Usage> usage) {
    if (!exchange.isOpen()) {
      return; // the caller left meanwhile
    }
    if (usage.isEmpty()) {
      exchange.fail(UpstreamFailures.invalidAnswer(), End.UPSTREAM);
      return;
    }
    exchange.used(usage.get());
    ByteBuf bytes = Answers.relayed(exchange, head, Answers.BodyEnd.LENGTH, held.length());
    ByteBuf body = held.retainedContent();
    exchange.beginAnswer(head.status());
    if (Pieces.append(bytes, body)) {
      exchange.endAnswer(bytes);
    } else {
      exchange.downstream().write(bytes);
      exchange.endAnswer(body);
    }
  }

  @Override
  void tooMuch(HeldBody.Added why) {
    exchange.fail(
        why == HeldBody.Added.TOO_LARGE
            ? UpstreamFailures.tooLarge(MAX_BYTES)
            : MemoryBudget.exhausted(),
        End.UPSTREAM);
  }

  @Override
  void broken(Failure failure) {
    exchange.fail(failure, End.UPSTREAM);
  }
}
