package dev.sluice.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.error.ErrorType;
import dev.sluice.error.Reason;
import dev.sluice.exchange.Route;
import dev.sluice.exchange.RouteTable;
import dev.sluice.message.Operation;
import io.netty.handler.codec.http.HttpMethod;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class OpenApiTest {
  private static final String LIST = "GET /v1/models";
  private static final String ITEM = "GET /v1/models/{id}";
  private static final Set<String> FORWARDED =
      Set.of("POST /v1/chat/completions", "POST /v1/messages");

  /** What a streaming request may be answered once it has asked for its slot, but for success. */
  private static final Set<String> AFTER_THE_SLOT =
      Set.of("400", "413", "429", "500", "502", "503");

  private static final OpenApiDocument DOCUMENT = new OpenApiDocument();
  private static final RouteTable ROUTES = new RouteTable(Operation.BUILT_IN);

  @Test
  void aParserOfOpenApi31HasNothingToSay() throws IOException {
    String yaml;
    try (InputStream in = OpenApiTest.class.getResourceAsStream(OpenApiDocument.RESOURCE)) {
      yaml = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }

    SwaggerParseResult result = new OpenAPIV3Parser().readContents(yaml);

    assertThat(result.isOpenapi31()).isTrue();
    assertThat(result.getMessages()).isEmpty();
  }

  @Test
  void everyReferenceResolvesAndEveryComponentIsReferredTo() {
    List<String> references = new ArrayList<>();
    collect(DOCUMENT.root(), references);

    for (String reference : references) {
      assertThat(DOCUMENT.resolve(Map.of("$ref", reference))).as(reference).isNotEmpty();
    }
    Set<String> components = new TreeSet<>();
    DOCUMENT
        .at("components")
        .forEach(
            (kind, named) ->
                OpenApiDocument.map(named)
                    .keySet()
                    .forEach(name -> components.add("#/components/" + kind + "/" + name)));
    components.remove("#/components/securitySchemes/bearerKey");
    assertThat(new TreeSet<>(references)).isEqualTo(components);
  }

  @Test
  void everyOperationAsksForTheBearerKey() {
    assertThat(DOCUMENT.at("components", "securitySchemes", "bearerKey"))
        .containsEntry("type", "http")
        .containsEntry("scheme", "bearer");
    assertThat(DOCUMENT.root()).containsEntry("security", List.of(Map.of("bearerKey", List.of())));
    operations().forEach(op -> assertThat(operation(op)).as(op).doesNotContainKey("security"));
  }

  @Test
  void thePathsAreThoseOfTheCode() {
    Set<String> paths = new TreeSet<>(Set.of(RouteTable.MODELS, RouteTable.MODELS + "/{id}"));
    Operation.BUILT_IN.forEach(operation -> paths.add(operation.path()));

    assertThat(new TreeSet<>(DOCUMENT.at("paths").keySet())).isEqualTo(paths);
  }

  @ParameterizedTest
  @MethodSource("paths")
  void theMethodsOfAPathAreThoseOfTheCode(String path) {
    Set<String> served = new TreeSet<>();
    for (String method :
        List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")) {
      Route route =
          ROUTES.find(HttpMethod.valueOf(method), path.replace("{id}", "openai/gpt-oss-120b"));
      assertThat(route).isNotInstanceOf(Route.Unknown.class);
      if (!(route instanceof Route.WrongMethod)) {
        served.add(method);
      }
    }
    Set<String> documented = new TreeSet<>();
    operations()
        .filter(op -> op.endsWith(" " + path))
        .forEach(op -> documented.add(op.substring(0, op.indexOf(' '))));
    if (documented.contains("GET")) {
      documented.add("HEAD"); // in words, for every GET
    }

    assertThat(documented).isEqualTo(served);
  }

  static Stream<String> paths() {
    return DOCUMENT.at("paths").keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("operations")
  void theStatusesOfAnOperationAreSuccessAndThoseOfItsReasons(String operation) {
    Set<String> expected = new TreeSet<>(Set.of("200"));
    for (Reason reason : Reason.values()) {
      if (operationsOf(reason).contains(operation)) {
        expected.add(String.valueOf(reason.status()));
      }
    }

    assertThat(new TreeSet<>(DOCUMENT.child(operation(operation), "responses").keySet()))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @EnumSource
  void aReasonsTypeIsThatOfItsStatusWhereverItIsAnswered(Reason reason) {
    Set<String> operations = operationsOf(reason);
    if (reason == Reason.PATH_UNKNOWN) {
      assertThat(DOCUMENT.at("components", "responses", "NotFound")).isNotEmpty();
      assertThat(reason.status()).isEqualTo(Reason.MODEL_UNKNOWN.status());
      assertThat(reason.type()).isEqualTo(Reason.MODEL_UNKNOWN.type());
    } else {
      assertThat(operations).isNotEmpty();
    }
    for (String operation : operations) {
      assertThat(errorType(response(operation, reason.status())))
          .as(operation)
          .isEqualTo(reason.type().wireName());
    }
  }

  /** The operations that can answer with a reason. A new reason does not compile without. */
  private static Set<String> operationsOf(Reason reason) {
    Set<String> all = new TreeSet<>(FORWARDED);
    all.addAll(Set.of(LIST, ITEM));
    Set<String> named = new TreeSet<>(FORWARDED);
    named.add(ITEM);
    return switch (reason) {
      case HTTP_MALFORMED, REQUEST_LINE_TOO_LONG, HEADERS_TOO_LARGE, HEAD_TIMEOUT -> all;
      case STARTING, DRAINING, MAINTENANCE, CONNECTION_LIMIT, EXCHANGE_LIMIT, MEMORY_BUDGET -> all;
      case BODY_TOO_LARGE -> all;
      case CONTENT_TYPE -> FORWARDED;
      case KEY_MISSING, KEY_MALFORMED, KEY_UNKNOWN, KEY_EXPIRED, KEY_REVOKED -> all;
      case KEY_DIRECTORY, SUBSCRIPTION_INACTIVE -> all;
      case PATH_UNKNOWN -> Set.of();
      case METHOD_NOT_ALLOWED, EXPECTATION_UNKNOWN, BODY_TIMEOUT -> all;
      case JSON_MALFORMED, REQUEST_SHAPE, IMAGE -> FORWARDED;
      case MODEL_UNKNOWN -> named;
      case MODEL_NOT_IN_PLAN, SLOTS_OF_PLAN, SLOTS_OF_KEY -> FORWARDED;
      case UPSTREAM_NO_ENDPOINT, UPSTREAM_CONNECT, UPSTREAM_CONNECT_TIMEOUT -> FORWARDED;
      case UPSTREAM_UNAVAILABLE, UPSTREAM_RATE_LIMITED -> FORWARDED;
      case UPSTREAM_FIRST_BYTE_TIMEOUT, UPSTREAM_IDLE_TIMEOUT, EXCHANGE_TIMEOUT -> FORWARDED;
      case UPSTREAM_CLOSED, UPSTREAM_TRUNCATED, UPSTREAM_PROTOCOL -> FORWARDED;
      case UPSTREAM_BAD_GATEWAY, UPSTREAM_STATUS, UPSTREAM_DENIED -> FORWARDED;
      case UPSTREAM_CONTENT_TYPE, UPSTREAM_ANSWER -> FORWARDED;
      case UPSTREAM_REFUSED, UPSTREAM_REFUSED_SIZE -> FORWARDED;
      case SHUTDOWN -> FORWARDED;
      case INTERNAL -> all;
    };
  }

  @Test
  void theTypesAreThoseOfTheCode() {
    assertThat(DOCUMENT.at("components", "schemas", "ErrorType"))
        .containsEntry("enum", Arrays.stream(ErrorType.values()).map(ErrorType::wireName).toList());
  }

  @Test
  void everyAnswerHasOurRequestIdAndSomeHaveMore() {
    operations()
        .forEach(
            operation ->
                DOCUMENT
                    .child(operation(operation), "responses")
                    .keySet()
                    .forEach(
                        status -> {
                          Set<String> headers =
                              DOCUMENT
                                  .child(response(operation, Integer.parseInt(status)), "headers")
                                  .keySet();
                          assertThat(headers)
                              .as(operation + " " + status)
                              .isEqualTo(headersOf(operation, status));
                        }));
  }

  private static Set<String> headersOf(String operation, String status) {
    Set<String> headers = new TreeSet<>(Set.of("x-request-id"));
    switch (status) {
      case "401" -> headers.add("WWW-Authenticate");
      case "405" -> headers.add("Allow");
      case "429", "503" -> headers.add("Retry-After");
      default -> {}
    }
    if (AFTER_THE_SLOT.contains(status)
        || (status.equals("200") && FORWARDED.contains(operation))) {
      headers.add("x-ratelimit-limit-streams");
      headers.add("x-ratelimit-remaining-streams");
    }
    return headers;
  }

  @Test
  void answersThatMayBeStreamsSayHowABrokenOneEnds() {
    for (String operation : FORWARDED) {
      Map<String, Object> success = response(operation, 200);

      assertThat(DOCUMENT.child(success, "content").keySet())
          .containsExactlyInAnyOrder("application/json", "text/event-stream");
      assertThat(success.get("description")).asString().contains("A stream that breaks off ends");
    }
  }

  private String errorType(Map<String, Object> response) {
    Map<String, Object> json =
        DOCUMENT.child(DOCUMENT.child(response, "content"), "application/json");
    List<?> parts = (List<?>) Objects.requireNonNull(DOCUMENT.child(json, "schema").get("allOf"));
    assertThat(parts.get(0)).isEqualTo(Map.of("$ref", "#/components/schemas/Error"));
    Map<String, Object> at = OpenApiDocument.map(parts.get(1));
    for (String name : List.of("properties", "error", "properties", "type")) {
      at = DOCUMENT.child(at, name);
    }
    return String.valueOf(at.get("const"));
  }

  static Stream<String> operations() {
    return DOCUMENT.at("paths").keySet().stream()
        .flatMap(
            path ->
                DOCUMENT.at("paths", path).keySet().stream()
                    .filter(name -> !name.equals("parameters"))
                    .map(method -> method.toUpperCase(Locale.ROOT) + " " + path));
  }

  private static Map<String, Object> operation(String operation) {
    int space = operation.indexOf(' ');
    String method = operation.substring(0, space).toLowerCase(Locale.ROOT);
    return DOCUMENT.at("paths", operation.substring(space + 1), method);
  }

  private static Map<String, Object> response(String operation, int status) {
    return DOCUMENT.child(
        DOCUMENT.child(operation(operation), "responses"), String.valueOf(status));
  }

  private static void collect(Object value, List<String> references) {
    if (value instanceof Map<?, ?> map) {
      if (map.get("$ref") instanceof String reference) {
        references.add(reference);
      }
      map.values().forEach(child -> collect(child, references));
    } else if (value instanceof List<?> list) {
      list.forEach(child -> collect(child, references));
    }
  }
}
