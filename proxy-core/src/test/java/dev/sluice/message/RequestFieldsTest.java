package dev.sluice.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.Failure;
import dev.sluice.error.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The top-level fields of both public APIs: every JSON type of each, those allowed and not. */
class RequestFieldsTest {
  private static final Set<String> TYPES =
      Set.of("string", "integer", "fraction", "boolean", "null", "object", "array");

  private static final String CHAT_COMPLETIONS =
      """
      audio                  object null
      frequency_penalty      integer fraction null
      function_call          string object
      functions              array
      logit_bias             object null
      logprobs               boolean null
      max_completion_tokens  integer null
      max_tokens             integer null
      metadata               object null
      modalities             array null
      moderation             object null
      n                      integer null
      parallel_tool_calls    boolean
      prediction             object null
      presence_penalty       integer fraction null
      prompt_cache_key       string null
      prompt_cache_options   object
      prompt_cache_retention string null
      reasoning_effort       string null
      response_format        object
      safety_identifier      string null
      seed                   integer null
      service_tier           string null
      stop                   string array null
      store                  boolean null
      stream_options         object null
      temperature            integer fraction null
      tool_choice            string object null
      tools                  array null
      top_logprobs           integer null
      top_p                  integer fraction null
      user                   string null
      verbosity              string null
      web_search_options     object
      """;

  private static final String MESSAGES =
      """
      billing_policy         object null
      cache_control          object null
      compaction             object null
      container              string object null
      context_management     object null
      diagnostics            object null
      fallback_credit_token  string object null
      fallbacks              string array null
      inference_geo          string null
      max_tokens             integer
      mcp_servers            array
      metadata               object
      output_config          object
      output_format          object null
      service_tier           string
      speed                  string null
      stop_sequences         array
      system                 string array
      temperature            integer fraction
      thinking               object
      thread                 object null
      tool_choice            object
      tools                  array
      top_k                  integer
      top_p                  integer fraction
      user_profile_id        string null
      """;

  static List<Arguments> fields() {
    List<Arguments> fields = new ArrayList<>();
    CHAT_COMPLETIONS.lines().forEach(line -> fields.add(row(Operation.CHAT_COMPLETIONS, line)));
    MESSAGES.lines().forEach(line -> fields.add(row(Operation.MESSAGES, line)));
    return fields;
  }

  @ParameterizedTest
  @MethodSource("fields")
  void aFieldHasOneOfItsTypes(Operation operation, String name, Set<String> allowed) {
    for (String type : TYPES) {
      for (String value : Bodies.valuesOf(type)) {
        String body = bodyWith(name, value);
        if (allowed.contains(type)) {
          Bodies.accepted(body, operation);
        } else {
          Failure failure = Bodies.failure(Bodies.bytes(body), operation);
          assertThat(failure.reason()).isEqualTo(Reason.REQUEST_SHAPE);
          assertThat(failure.message()).startsWith(name + ": ").contains("(expected: ");
        }
      }
    }
  }

  @Test
  void theTableHasNoFieldThatIsNotTestedHere() {
    assertThat(RequestFields.of(Dialect.CHAT_COMPLETIONS).keySet())
        .isEqualTo(names(CHAT_COMPLETIONS));
    assertThat(RequestFields.of(Dialect.MESSAGES).keySet()).isEqualTo(names(MESSAGES));
  }

  @Test
  void aFieldOfTheOtherApiPassesUnchecked() {
    Bodies.accepted(bodyWith("system", "1"), Operation.CHAT_COMPLETIONS);
    Bodies.accepted(bodyWith("n", "'x'"), Operation.MESSAGES);
  }

  @Test
  void aFieldThatNobodyDefinedPassesUnchecked() {
    for (String type : TYPES) {
      for (String value : Bodies.valuesOf(type)) {
        Bodies.accepted(bodyWith("guided_json", value));
        Bodies.accepted(bodyWith("Temperature", value));
        Bodies.accepted(bodyWith("temperature_".repeat(20), value));
        Bodies.accepted(bodyWith("", value));
      }
    }
  }

  @Test
  void anOperationOfNoKnownApiChecksNoneOfThem() {
    Operation other = new Operation("other", "/v1/other", Dialect.OTHER, true);
    for (String name : names(CHAT_COMPLETIONS)) {
      for (String type : TYPES) {
        Bodies.accepted(bodyWith(name, Bodies.valuesOf(type).get(0)), other);
      }
    }
  }

  @Test
  void theRefusalNamesTheTypes() {
    assertMessage(
        "max_tokens", "1.5", Operation.CHAT_COMPLETIONS, "number (expected: integer or null)");
    assertMessage("max_tokens", "null", Operation.MESSAGES, "null (expected: integer)");
    assertMessage(
        "stop", "1", Operation.CHAT_COMPLETIONS, "integer (expected: string, array or null)");
    assertMessage("temperature", "'1'", Operation.MESSAGES, "string (expected: number)");
    assertMessage("tools", "{}", Operation.MESSAGES, "object (expected: array)");
    assertMessage("store", "[]", Operation.CHAT_COMPLETIONS, "array (expected: boolean or null)");
    assertMessage("metadata", "true", Operation.MESSAGES, "boolean (expected: object)");
  }

  private static void assertMessage(
      String name, String value, Operation operation, String expected) {
    assertThat(Bodies.failure(Bodies.bytes(bodyWith(name, value)), operation).message())
        .isEqualTo(name + ": " + expected);
  }

  private static String bodyWith(String name, String value) {
    return "{'" + name + "':" + value + ",'model':'m','messages':[{'role':'user','content':'x'}]}";
  }

  private static Arguments row(Operation operation, String line) {
    List<String> words = List.of(line.split(" +", -1));
    return Arguments.of(operation, words.get(0), Set.copyOf(words.subList(1, words.size())));
  }

  private static Set<String> names(String table) {
    Set<String> names = new TreeSet<>();
    table.lines().forEach(line -> names.add(line.split(" +", -1)[0]));
    return names;
  }
}
