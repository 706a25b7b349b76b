package dev.sluice.pipeline;

import dev.sluice.exchange.LoopContext;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.util.function.Function;

/**
 * Builds the pipeline of a downstream connection: what is the connection's own, and behind it the
 * rules, which all connections share.
 */
final class EdgePipeline extends ChannelInitializer<Channel> {
  /** The handler that knows a connection's exchange. */
  static final String CONNECTION = "request-head";

  private final EdgeState state;
  private final Rules rules;
  private final Function<Channel, LoopContext> contexts;

  EdgePipeline(EdgeState state, Rules rules, Function<Channel, LoopContext> contexts) {
    this.state = state;
    this.rules = rules;
    this.contexts = contexts;
  }

  @Override
  protected void initChannel(Channel channel) {
    LoopContext context = contexts.apply(channel);
    RequestDecoder decoder = new RequestDecoder(state.snapshot().limits(), context.timer());
    DownstreamConnection connection = new DownstreamConnection(context, state, rules, decoder);

    // Bytes become heads and bodies, strictly and in time: 400, 408, 414, 431. A head that could
    // mean two things gets no further than the framing guard in it: 400.
    channel.pipeline().addLast("request-decoder", decoder);
    // A head becomes an exchange, with its id and its clock, and goes along the rules; from here on
    // every answer has both. What nobody caught ends here: 500.
    channel.pipeline().addLast(CONNECTION, connection);
  }
}
