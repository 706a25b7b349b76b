package dev.sluice.pipeline;

import dev.sluice.exchange.LoopContext;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import java.util.function.Function;

/**
 * Builds the pipeline of a downstream connection: one handler a rule of the contract, in the
 * contract's order. The first failing rule answers, and nothing goes on behind it.
 */
final class EdgePipeline extends ChannelInitializer<Channel> {
  /** The handler that knows a connection's exchange. */
  static final String CONNECTION = "request-head";

  private final EdgeState state;
  private final Rules rules;
  private final Function<Channel, LoopContext> contexts;

  /** The rules that all connections share. */
  record Rules(
      Admission admission,
      BodySize bodySize,
      ContentType contentType,
      BearerKey bearerKey,
      Routing route,
      ModelList modelList,
      ModelAccess modelAccess,
      StreamSlot streamSlot) {}

  EdgePipeline(EdgeState state, Rules rules, Function<Channel, LoopContext> contexts) {
    this.state = state;
    this.rules = rules;
    this.contexts = contexts;
  }

  private static final FramingGuard FRAMING_GUARD = new FramingGuard();
  private static final Forward FORWARD = new Forward();

  @Override
  protected void initChannel(Channel channel) {
    LoopContext context = contexts.apply(channel);
    RequestDecoder decoder = new RequestDecoder(state.snapshot().limits(), context.timer());
    DownstreamConnection connection = new DownstreamConnection(context, state, decoder);
    ChannelPipeline pipeline = channel.pipeline();

    // Bytes become heads and bodies, strictly and in time: 400, 408, 414, 431.
    pipeline.addLast("request-decoder", decoder);
    // Heads that could mean two things never get further: 400.
    pipeline.addLast("framing-guard", FRAMING_GUARD);
    // A head becomes an exchange, with its id and its clock; from here on every answer has both.
    pipeline.addLast(CONNECTION, connection);
    // While Sluice cannot take a request, nothing of it is looked at: 503.
    pipeline.addLast("admission", rules.admission);
    // A body that says it is too large is not read: 413.
    pipeline.addLast("body-size", rules.bodySize);
    // What is not JSON is not read either: 415.
    pipeline.addLast("content-type", rules.contentType);
    // Who calls, before anything is said about what is here: 401, 403.
    pipeline.addLast("bearer-key", rules.bearerKey);
    // What is called: 404, 405.
    pipeline.addLast("route", rules.route);
    // The one thing that Sluice answers itself: which models there are.
    pipeline.addLast("model-list", rules.modelList);
    // The head has passed: the body may come, is held and inspected whole: 413, 408, 400.
    pipeline.addLast("message-body", new MessageBody());
    // The body names the model: 404, 403, and 503 while that is in maintenance.
    pipeline.addLast("model-access", rules.modelAccess);
    // The last check, so that no slot is taken for a request that fails: 429.
    pipeline.addLast("stream-slot", rules.streamSlot);
    // To the upstream and back: 502, 503.
    pipeline.addLast("forward", FORWARD);
    // What nobody caught: 500.
    pipeline.addLast("fault", new Fault(connection));
  }
}
