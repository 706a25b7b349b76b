package dev.sluice.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A headless Chromium with one page, spoken to by the W3C WebDriver protocol through its
 * chromedriver. Both must be on the path. Nothing but this machine can be reached from it.
 */
public final class Browser implements AutoCloseable {
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");
  private static final Pattern STARTED =
      Pattern.compile(".*started successfully on port (\\d+)\\.?");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String OPTIONS =
      """
      {"capabilities": {"alwaysMatch": {
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu",
          "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
          "--disable-component-update", "--hide-scrollbars", "--lang=en-GB",
          "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]}}}}
      """;

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process driver;
  private final String root;
  private final List<String> requested = new ArrayList<>();

  private Browser(Process driver, int port) {
    this.driver = driver;
    String sessions = "http://127.0.0.1:" + port + "/session";
    this.root = sessions + "/" + Json.object(post(sessions, OPTIONS), "value").get("sessionId");
  }

  /** Starts one. */
  public static Browser start() {
    try {
      Process driver =
          new ProcessBuilder("chromedriver", "--port=0").redirectErrorStream(true).start();
      BufferedReader said =
          new BufferedReader(new InputStreamReader(driver.getInputStream(), UTF_8));
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        Matcher started = STARTED.matcher(line);
        if (started.matches()) {
          return new Browser(driver, Integer.parseInt(started.group(1)));
        }
      }
      throw new AssertionError("chromedriver ended before it listened");
    } catch (IOException e) {
      throw new AssertionError("chromedriver (expected: Debian's chromium-driver)", e);
    }
  }

  /** Opens an address and waits until it is loaded. */
  public void open(String address) {
    post(root + "/url", "{\"url\": " + quoted(address) + "}");
  }

  /** The value of a script's {@code return}. */
  public Object script(String script) {
    return value(
        post(root + "/execute/sync", "{\"args\": [], \"script\": " + quoted(script) + "}"));
  }

  /** The text that people read of the first element that a CSS selector finds; empty for none. */
  public String text(String selector) {
    return (String)
        script("return document.querySelector(" + quoted(selector) + ")?.innerText ?? ''");
  }

  /** Waits until the page's script finds a condition to hold. */
  public void await(String description, String condition) {
    Eventually.within(
        PATIENCE, description, () -> script("return Boolean(" + condition + ")").equals(true));
  }

  /** Waits until the element's text holds another. */
  public void awaitText(String selector, String text) {
    Eventually.within(PATIENCE, selector + " holds " + text, () -> text(selector).contains(text));
  }

  /** Types these characters, keys of the WebDriver standard included, wherever the focus is. */
  public void type(String characters) {
    StringBuilder actions = new StringBuilder();
    characters
        .codePoints()
        .forEach(
            character -> {
              String key = quoted(Character.toString(character));
              actions.append(actions.isEmpty() ? "" : ",");
              actions.append("{\"type\": \"keyDown\", \"value\": " + key + "},");
              actions.append("{\"type\": \"keyUp\", \"value\": " + key + "}");
            });
    post(
        root + "/actions",
        "{\"actions\": [{\"type\": \"key\", \"id\": \"keys\", \"actions\": [" + actions + "]}]}");
  }

  /** Makes it dark or light, and this wide; a narrow one is a phone's. */
  public void look(boolean dark, int width) {
    command(
        "Emulation.setEmulatedMedia",
        "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \""
            + (dark ? "dark" : "light")
            + "\"}]}");
    command(
        "Emulation.setDeviceMetricsOverride",
        "{\"width\": "
            + width
            + ", \"height\": 900, \"deviceScaleFactor\": "
            + (width < 600 ? 2 : 1)
            + ", \"mobile\": "
            + (width < 600)
            + "}");
  }

  /** Keeps a picture of the whole page, light and dark, wide and narrow. */
  public void screenshots(String name) {
    for (boolean dark : new boolean[] {false, true}) {
      for (int width : new int[] {1280, 360}) {
        look(dark, width);
        await("no wider than the window", "document.documentElement.scrollWidth <= " + width);
        screenshot(name + (dark ? "-dark" : "-light") + (width < 600 ? "-narrow" : "-wide"));
      }
    }
    look(false, 1280);
  }

  private void screenshot(String name) {
    // Two frames: what was changed is drawn.
    post(
        root + "/execute/async",
        "{\"args\": [], \"script\": \"const done = arguments[0]; requestAnimationFrame(() =>"
            + " requestAnimationFrame(() => done()))\"}");
    Map<String, Object> picture =
        Json.object(
            command("Page.captureScreenshot", "{\"captureBeyondViewport\": true}"), "value");
    try {
      Files.createDirectories(SCREENSHOTS);
      Files.write(
          SCREENSHOTS.resolve(name + ".png"),
          Base64.getDecoder().decode((String) picture.get("data")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the page has said on its console since this was asked last, errors of loading too. */
  public List<String> console() {
    return log("browser").stream()
        .map(entry -> entry.get("level") + " " + entry.get("message"))
        .toList();
  }

  /** Every address that was asked for. */
  public List<String> requested() {
    for (Map<String, Object> entry : log("performance")) {
      Map<String, Object> message =
          Json.object(Json.object(String.valueOf(entry.get("message"))), "message");
      if ("Network.requestWillBeSent".equals(message.get("method"))) {
        Map<String, Object> request = Json.object(Json.object(message, "params"), "request");
        requested.add((String) request.get("url"));
      }
    }
    return List.copyOf(requested);
  }

  /** Runs a command of the DevTools protocol. */
  public Map<String, Object> command(String name, String parameters) {
    return post(
        root + "/goog/cdp/execute", "{\"cmd\": \"" + name + "\", \"params\": " + parameters + "}");
  }

  private List<Map<String, Object>> log(String type) {
    return Json.objects(post(root + "/se/log", "{\"type\": \"" + type + "\"}"), "value");
  }

  private static Object value(Map<String, Object> answer) {
    Object value = answer.get("value");
    return value == null ? "" : value;
  }

  private Map<String, Object> post(String uri, String json) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(uri))
            .timeout(PATIENCE)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(json))
            .build();
    try {
      var response = client.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new AssertionError(json + ": " + response.body());
      }
      return Json.object(response.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    text.chars()
        .forEach(
            c -> {
              if (c == '"' || c == '\\' || c < ' ') {
                quoted.append("\\u00").append(c < 16 ? "0" : "").append(Integer.toHexString(c));
              } else {
                quoted.append((char) c);
              }
            });
    return quoted.append('"').toString();
  }

  /** Ends the browser and its driver. */
  @Override
  public void close() {
    try {
      client.send(
          HttpRequest.newBuilder(URI.create(root)).timeout(PATIENCE).DELETE().build(),
          BodyHandlers.discarding());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      driver.descendants().forEach(ProcessHandle::destroyForcibly);
      driver.destroyForcibly();
    }
  }
}
