package dev.sluice.message;

import java.util.List;

/**
 * One operation that takes a JSON body and is forwarded to a model's upstream.
 *
 * @param name its name in metrics and logs, as in {@code chat_completions}
 * @param path the path it is served under, matched as it was sent
 * @param dialect whose fields and events it speaks
 * @param messagesRequired whether its body must carry {@code messages}
 */
public record Operation(String name, String path, Dialect dialect, boolean messagesRequired) {
  /** The OpenAI Chat Completions operation. */
  public static final Operation CHAT_COMPLETIONS =
      new Operation("chat_completions", "/v1/chat/completions", Dialect.CHAT_COMPLETIONS, true);

  /** The Anthropic Messages operation. */
  public static final Operation MESSAGES =
      new Operation("messages", "/v1/messages", Dialect.MESSAGES, true);

  /** The operations that are always served. */
  public static final List<Operation> BUILT_IN = List.of(CHAT_COMPLETIONS, MESSAGES);
}
