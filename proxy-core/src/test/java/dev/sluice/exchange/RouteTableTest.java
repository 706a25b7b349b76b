package dev.sluice.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.message.Operation;
import io.netty.handler.codec.http.HttpMethod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouteTableTest {
  private final RouteTable routes = new RouteTable(Operation.BUILT_IN);

  @Test
  void anOperationIsFoundAtItsPath() {
    assertThat(routes.find(HttpMethod.POST, "/v1/messages"))
        .isEqualTo(new Route.Forwarded(Operation.MESSAGES));
    assertThat(routes.find(HttpMethod.POST, "/v1/chat/completions"))
        .isEqualTo(new Route.Forwarded(Operation.CHAT_COMPLETIONS));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "post"})
  void anOperationTakesPostAlone(String method) {
    assertThat(routes.find(HttpMethod.valueOf(method), "/v1/messages"))
        .isEqualTo(new Route.WrongMethod("messages", "POST"));
  }

  @Test
  void theModelListTakesGetAndHead() {
    assertThat(routes.find(HttpMethod.GET, "/v1/models")).isEqualTo(new Route.ModelList());
    assertThat(routes.find(HttpMethod.HEAD, "/v1/models")).isEqualTo(new Route.ModelList());
    assertThat(routes.find(HttpMethod.POST, "/v1/models"))
        .isEqualTo(new Route.WrongMethod("list_models", "GET, HEAD"));
    assertThat(routes.find(HttpMethod.POST, "/v1/models/a"))
        .isEqualTo(new Route.WrongMethod("get_model", "GET, HEAD"));
  }

  @ParameterizedTest
  @CsvSource({
    "small, small",
    "openai/gpt-oss-120b, openai/gpt-oss-120b",
    "openai%2Fgpt-oss-120b, openai/gpt-oss-120b",
    "openai%2fgpt-oss-120b, openai/gpt-oss-120b",
    "a%252Fb, a%2Fb",
    "a+b, a+b",
    "%C3%BC, ü",
    "a/../b, a/../b",
    "a//b, a//b",
    "/, /",
    "a/, a/",
    "a%3Fb, a?b",
  })
  void anIdIsPercentDecodedOnce(String path, String id) {
    assertThat(routes.find(HttpMethod.GET, "/v1/models/" + path))
        .isEqualTo(new Route.ModelItem(id));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "*",
        "/v1",
        "/v1/",
        "/v1/models/",
        "/v1/models/%",
        "/v1/models/a%2",
        "/v1/models/%zz",
        "/v1/models/%+1",
        "/v1/models/%-1",
        "/v1/models/%FF",
        "/v1/models/%C0%AF",
        "/v1/models/%ED%A0%80",
        "/V1/models",
        "/v1/Models",
        "/v1//models",
        "//v1/models",
        "/v1/./models",
        "/v1/x/../models",
        "/v1/%6Dodels",
        "/v1%2Fmodels",
        "/v1/models%2Fsmall",
        "/v1/models;x",
        "/v1/modelsx",
        "/v1/messages/",
        "/v1/messages//",
        "/v1/chat/completions/",
        "/v1/chat%2Fcompletions",
        "/metrics",
        "/healthz",
        "/readyz",
      })
  void whatDoesNotMatchAsItWasSentIsUnknown(String path) {
    assertThat(routes.find(HttpMethod.GET, path)).isEqualTo(new Route.Unknown());
    assertThat(routes.find(HttpMethod.POST, path)).isEqualTo(new Route.Unknown());
  }
}
