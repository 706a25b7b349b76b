package dev.sluice.page;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps pages live: every part of a page is a server-sent event of its own, with the part's JSON as
 * it is at its own path. All of them are sent to who begins to listen, and those that changed
 * again, looked at once a second. Nothing is looked at while nobody listens. The listener's loop
 * only, unless said otherwise.
 */
public final class LiveEvents {
  /*
   * A listener is never sent the next state before it has taken the one before: it misses those in
   * between, and costs at most one state of memory. One that takes nothing for TAKEN_WITHIN is
   * dropped; a browser asks again by itself.
   */
  private static final Logger LOG = LoggerFactory.getLogger(LiveEvents.class);

  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);
  private static final Duration TAKEN_WITHIN = Duration.ofSeconds(15);
  private static final Duration PING_INTERVAL = Duration.ofSeconds(15);
  private static final byte[] PING = ascii(": ping\n\n");

  private final EventLoop loop;
  private final List<Part> parts;
  private final int most;
  private final List<Listener> listeners = new ArrayList<>();
  private final Future<?> looking;

  /** One part of a page, as it was when it was last looked at. */
  private static final class Part {
    final String name;
    final Supplier<CompletionStage<String>> json;
    String text = "";
    byte[] event = {};
    boolean asked;

    Part(String name, Supplier<CompletionStage<String>> json) {
      this.name = name;
      this.json = json;
    }
  }

  /** A page that is open somewhere. */
  private static final class Listener {
    final Channel channel;
    final byte[][] sent;
    ChannelFuture written;
    int behind;
    int silent;

    Listener(Channel channel, int parts, ChannelFuture written) {
      this.channel = channel;
      this.sent = new byte[parts][];
      this.written = written;
    }
  }

  /**
   * Looks at these parts from now on, while somebody listens.
   *
   * @param loop the loop of the listener's connections
   * @param parts gives each part's JSON by the name of its event; called on the loop, must not
   *     block, may complete later and elsewhere
   * @param most how many may listen at once
   */
  public LiveEvents(
      EventLoop loop, Map<String, Supplier<CompletionStage<String>>> parts, int most) {
    this.loop = loop;
    this.parts =
        parts.entrySet().stream()
            .map(part -> new Part(part.getKey(), part.getValue()))
            .collect(Collectors.toUnmodifiableList());
    this.most = most;
    this.looking =
        loop.scheduleWithFixedDelay(
            this::look, LOOK_INTERVAL.toMillis(), LOOK_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Whether one more may listen. */
  boolean hasRoom() {
    return listeners.size() < most;
  }

  /**
   * Sends events over a channel from now on, until it is closed.
   *
   * @param head the write of the answer's head
   */
  void add(Channel channel, ChannelFuture head) {
    Listener listener = new Listener(channel, parts.size(), head);
    listeners.add(listener);
    channel.closeFuture().addListener(closed -> listeners.remove(listener));
    ask(); // first, or what was true for an earlier listener is sent before it
    offerOnceTaken(listener);
  }

  /** How many listen. */
  int listening() {
    return listeners.size();
  }

  private void look() {
    for (Listener listener : List.copyOf(listeners)) {
      if (listener.written.isDone()) {
        listener.behind = 0;
      } else if (++listener.behind >= TAKEN_WITHIN.toSeconds()) {
        listener.channel.close();
      }
      if (++listener.silent >= PING_INTERVAL.toSeconds() && listener.written.isDone()) {
        send(listener, PING);
      }
    }
    if (!listeners.isEmpty()) {
      ask();
    }
  }

  private void ask() {
    for (Part part : parts) {
      if (!part.asked) {
        part.asked = true;
        ask(part);
      }
    }
  }

  private void ask(Part part) {
    CompletionStage<String> answer;
    try {
      answer = part.json.get();
    } catch (RuntimeException e) {
      answered(part, null, e);
      return;
    }
    answer.whenComplete(
        (text, failure) -> {
          if (loop.inEventLoop()) {
            answered(part, text, failure);
          } else {
            loop.execute(() -> answered(part, text, failure));
          }
        });
  }

  private void answered(Part part, @Nullable String text, @Nullable Throwable failure) {
    part.asked = false;
    if (text == null) {
      LOG.error("live {}: not told", part.name, failure);
      return;
    }
    if (!text.equals(part.text)) {
      part.text = text;
      part.event = event(part.name, text);
    }
    for (Listener listener : List.copyOf(listeners)) {
      offer(listener);
    }
  }

  /** An event may have lines; a reader puts them together again. */
  private static byte[] event(String name, String text) {
    return text.lines()
        .map(line -> "data: " + line + "\n")
        .collect(Collectors.joining("", "event: " + name + "\n", "\n"))
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Sends everything that changed, in one write: some transports end none at once. */
  private void offer(Listener listener) {
    if (!listener.written.isDone()) {
      return;
    }
    List<byte[]> changed = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      byte[] event = parts.get(i).event;
      if (event.length > 0 && listener.sent[i] != event) {
        listener.sent[i] = event;
        changed.add(event);
      }
    }
    if (!changed.isEmpty()) {
      send(listener, changed.toArray(byte[][]::new));
    }
  }

  /** Only where the write before was taken. */
  private void send(Listener listener, byte[]... events) {
    listener.silent = 0;
    listener.written = listener.channel.writeAndFlush(Unpooled.wrappedBuffer(events));
    offerOnceTaken(listener);
  }

  /** What changed since the last write is sent when that was taken, not a second later. */
  private void offerOnceTaken(Listener listener) {
    listener.written.addListener(
        taken -> {
          if (taken.isSuccess()) {
            offer(listener);
          }
        });
  }

  /** Looks no longer. For all threads. */
  void close() {
    looking.cancel(false);
  }
}
