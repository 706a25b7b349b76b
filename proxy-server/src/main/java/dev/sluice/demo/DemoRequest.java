package dev.sluice.demo;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What the demo upstream takes from a request body of either dialect.
 *
 * @param model the model's name
 * @param stream whether the answer is to be a stream
 * @param usageWanted whether a stream of Chat Completions is to end with its usage
 * @param maxWords most words of the answer; at least 1
 * @param lastUserText the text of the last user message, its parts joined by spaces
 * @param images how many images all messages hold
 * @param inputWords how many words all messages hold
 */
record DemoRequest(
    String model,
    boolean stream,
    boolean usageWanted,
    int maxWords,
    String lastUserText,
    int images,
    int inputWords) {

  private static final JsonFactory JSON = new JsonFactory();

  /** Why a body cannot be answered. */
  static final class Invalid extends Exception {
    private Invalid(String name, String found, String expected) {
      super(name + ": " + found + " (expected: " + expected + ")", null, false, false);
    }

    @Override
    public String getMessage() {
      return String.valueOf(super.getMessage());
    }
  }

  /**
   * Reads a body.
   *
   * @throws Invalid when it is not JSON, or says something that cannot be answered
   */
  static DemoRequest read(byte[] body) throws Invalid {
    try (JsonParser parser = JSON.createParser(body)) {
      return new Reader(parser).body();
    } catch (IOException e) {
      throw new Invalid("body", "malformed JSON", "one JSON object");
    }
  }

  /** One pass over one body. */
  private static final class Reader {
    private final JsonParser parser;
    private @Nullable String model;
    private boolean stream;
    private boolean usageWanted;
    private int maxWords = Integer.MAX_VALUE;
    private boolean messagesSeen;
    private String lastUserText = "";
    private int images;
    private int inputWords;

    Reader(JsonParser parser) {
      this.parser = parser;
    }

    DemoRequest body() throws IOException, Invalid {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new Invalid("body", found(), "one JSON object");
      }
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "model" -> model = string(name);
          case "stream" -> stream = bool(name);
          case "stream_options" -> streamOptions();
          case "max_tokens", "max_completion_tokens" ->
              maxWords = Math.min(maxWords, positive(name));
          case "n" -> one(name);
          case "messages" -> messages();
          default -> parser.skipChildren();
        }
      }
      if (parser.nextToken() != null) {
        throw new Invalid("body", "more after its end", "one JSON object");
      }
      if (model == null || model.isEmpty()) {
        throw new Invalid("model", model == null ? "missing" : "empty", "a model's name");
      }
      if (!messagesSeen) {
        throw new Invalid("messages", "missing or empty", "at least one message");
      }
      return new DemoRequest(
          model, stream, usageWanted, maxWords, lastUserText, images, inputWords);
    }

    private void streamOptions() throws IOException, Invalid {
      if (parser.currentToken() == JsonToken.VALUE_NULL) {
        return;
      }
      expect(JsonToken.START_OBJECT, "stream_options", "an object or null");
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        parser.nextToken();
        if (name.equals("include_usage")) {
          usageWanted = bool("stream_options.include_usage");
        } else {
          parser.skipChildren();
        }
      }
    }

    private void messages() throws IOException, Invalid {
      expect(JsonToken.START_ARRAY, "messages", "an array");
      for (int index = 0; parser.nextToken() != JsonToken.END_ARRAY; index++) {
        messagesSeen = true;
        message("messages[" + index + "]");
      }
    }

    private void message(String at) throws IOException, Invalid {
      expect(JsonToken.START_OBJECT, at, "an object");
      String role = "";
      StringBuilder text = new StringBuilder();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "role" -> role = string(at + ".role");
          case "content" -> content(at + ".content", text);
          default -> parser.skipChildren();
        }
      }
      if (role.isEmpty()) {
        throw new Invalid(at + ".role", "missing or empty", "a role");
      }
      inputWords += DemoAnswer.words(text.toString()).size();
      if (role.equals("user")) {
        lastUserText = text.toString();
      }
    }

    private void content(String at, StringBuilder text) throws IOException, Invalid {
      switch (parser.currentToken()) {
        case VALUE_NULL -> {}
        case VALUE_STRING -> text.append(parser.getText());
        case START_ARRAY -> {
          for (int index = 0; parser.nextToken() != JsonToken.END_ARRAY; index++) {
            part(at + "[" + index + "]", text);
          }
        }
        default -> throw new Invalid(at, found(), "a string, an array or null");
      }
    }

    private void part(String at, StringBuilder text) throws IOException, Invalid {
      expect(JsonToken.START_OBJECT, at, "an object");
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "text" -> text.append(text.isEmpty() ? "" : " ").append(string(at + ".text"));
          case "type" -> {
            String type = string(at + ".type");
            if (type.equals("image_url") || type.equals("image")) {
              images++;
            }
          }
          default -> parser.skipChildren(); // image data is never turned into a string
        }
      }
    }

    private String string(String name) throws IOException, Invalid {
      expect(JsonToken.VALUE_STRING, name, "a string");
      return parser.getText();
    }

    private boolean bool(String name) throws Invalid {
      return switch (parser.currentToken()) {
        case VALUE_TRUE -> true;
        case VALUE_FALSE, VALUE_NULL -> false;
        default -> throw new Invalid(name, found(), "true, false or null");
      };
    }

    private int positive(String name) throws IOException, Invalid {
      if (parser.currentToken() == JsonToken.VALUE_NULL) {
        return Integer.MAX_VALUE;
      }
      expect(JsonToken.VALUE_NUMBER_INT, name, "a whole number or null");
      boolean fits = parser.getNumberType() == JsonParser.NumberType.INT;
      if (!fits || parser.getIntValue() < 1) {
        throw new Invalid(name, fits ? "below 1" : "too large", "1 to " + Integer.MAX_VALUE);
      }
      return parser.getIntValue();
    }

    private void one(String name) throws IOException, Invalid {
      if (positive(name) != 1 && parser.currentToken() != JsonToken.VALUE_NULL) {
        throw new Invalid(name, "more than 1", "1: there is one answer");
      }
    }

    private void expect(JsonToken token, String name, String expected) throws Invalid {
      if (parser.currentToken() != token) {
        throw new Invalid(name, found(), expected);
      }
    }

    private String found() {
      JsonToken token = parser.currentToken();
      return token == null
          ? "nothing"
          : switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            case VALUE_STRING -> "a string";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
            case VALUE_TRUE, VALUE_FALSE -> "a boolean";
            case VALUE_NULL -> "null";
            default -> "no value";
          };
    }
  }
}
