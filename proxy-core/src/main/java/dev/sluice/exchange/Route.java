package dev.sluice.exchange;

import dev.sluice.message.Operation;

/** What a request's path and method lead to. */
public sealed interface Route {
  /** The operation's name in metrics and logs. */
  String name();

  /** An operation that is forwarded to a model's upstream. */
  record Forwarded(Operation operation) implements Route {
    @Override
    public String name() {
      return operation.name();
    }
  }

  /** {@code GET /v1/models}. */
  record ModelList() implements Route {
    @Override
    public String name() {
      return "list_models";
    }
  }

  /**
   * {@code GET /v1/models/{id}}.
   *
   * @param id the id, percent-decoded once
   */
  record ModelItem(String id) implements Route {
    @Override
    public String name() {
      return "get_model";
    }
  }

  /**
   * The path is known, the method is not.
   *
   * @param name the name of what is served there
   * @param allow the methods that are, as {@code Allow} lists them
   */
  record WrongMethod(String name, String allow) implements Route {}

  /** No such path. */
  record Unknown() implements Route {
    @Override
    public String name() {
      return ExchangeSummary.UNKNOWN;
    }
  }
}
