package dev.sluice.pipeline;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DuplexChannel;

/** A channel without a socket that closes one side alone, as TCP does. */
final class DuplexEmbeddedChannel extends EmbeddedChannel implements DuplexChannel {
  private boolean outputShutdown;

  DuplexEmbeddedChannel(ChannelHandler... handlers) {
    super(handlers);
  }

  /** How the connection is, in a word. */
  String connection() {
    return !isActive() ? "closed" : outputShutdown ? "closing" : "open";
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    outputShutdown = true;
    return promise.setSuccess();
  }

  @Override
  public boolean isOutputShutdown() {
    return outputShutdown;
  }

  @Override
  public boolean isInputShutdown() {
    return false;
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public ChannelFuture shutdownInput() {
    throw new AssertionError("nobody closes the input alone");
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    throw new AssertionError("nobody closes the input alone");
  }

  @Override
  public ChannelFuture shutdown() {
    throw new AssertionError("nobody closes both sides so");
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    throw new AssertionError("nobody closes both sides so");
  }
}
