package dev.sluice.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each kind of fault of a configuration, with its line. */
final class ConfigFaultsTest {
  @TempDir private Path directory;

  /** One line of the whole configuration is changed; this one fault is the outcome. */
  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          listen: 10.1.2.3:8081 | lisetn: 10.1.2.3:8081 | sluice.yaml:1: lisetn: unknown name (expected: one of listen, admin, status, access-log, limits, keys, plans, models, operations, sse-ping, revoke, admin-token-env, shutdown-grace, tracing; did you mean listen?)
          listen: 10.1.2.3:8081 | listen: 8081 | sluice.yaml:1: listen: 8081 (expected: host:port, the host a name, an IPv4 address, or an IPv6 address in brackets, as in "[::1]:8080" with its quotes)
          listen: 10.1.2.3:8081 | listen: 10.1.2.300:8081 | sluice.yaml:1: listen: 10.1.2.300:8081 (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: host:65536 | sluice.yaml:1: listen: host:65536 (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: host:-1 | sluice.yaml:1: listen: host:-1 (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: host:+80 | sluice.yaml:1: listen: host:+80 (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: ":8080" | sluice.yaml:1: listen: ":8080" (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: ::1:8080 | sluice.yaml:1: listen: ::1:8080 (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: "[1.2.3.4]:80" | sluice.yaml:1: listen: "[1.2.3.4]:80" (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: [host, 80] | sluice.yaml:1: listen: a list (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: | sluice.yaml:1: listen: nothing (expected: host:port,*
          listen: 10.1.2.3:8081 | listen: 10.1.2.3:9902 | sluice.yaml:2: admin: 9902 (expected: a port for listen and another one for admin)
          status: 0.0.0.0:8082 | status: 0.0.0.0:8081 | sluice.yaml:54: status: 0.0.0.0:8081 (expected: another port than those of listen and admin)
          status: 0.0.0.0:8082 | status: 127.0.0.1:9902 | sluice.yaml:54: status: 127.0.0.1:9902 (expected: another port than those of listen and admin)
          status: 0.0.0.0:8082 | status: 8082 | sluice.yaml:54: status: 8082 (expected: host:port, the host a name, an IPv4 address, or an IPv6 address in brackets, as in "[::1]:8080" with its quotes)
          access-log: logs/access.log | access-log: stdot | sluice.yaml:3: access-log: stdot (expected: none, stdout, or the path of a file, with a / or a . in it)
          access-log: logs/access.log | access-log: "a/\\0" | sluice.yaml:3: access-log: "a/\\u0000" (expected: none, stdout,*
          max-body-bytes: 512KiB | max-body-bytes: 524288 | sluice.yaml:5: limits.max-body-bytes: 524288 (expected: a size from 1B to 1GiB, as in 32MiB; units B, kB, KiB, MB, MiB, GB, GiB)
          max-body-bytes: 512KiB | max-body-bytes: 512K | sluice.yaml:5: limits.max-body-bytes: 512K (expected: a size*
          max-body-bytes: 512KiB | max-body-bytes: 0B | sluice.yaml:5: limits.max-body-bytes: 0B (expected: a size*
          max-body-bytes: 512KiB | max-body-bytes: -1B | sluice.yaml:5: limits.max-body-bytes: -1B (expected: a size*
          max-body-bytes: 512KiB | max-body-bytes: 1.5MiB | sluice.yaml:5: limits.max-body-bytes: 1.5MiB (expected: a size*
          max-body-bytes: 512KiB | max-body-bytes: 2GiB | sluice.yaml:5: limits.max-body-bytes: 2GiB (expected: a size*
          max-body-bytes: 512KiB | max-body-bytes: 9999999999GiB | sluice.yaml:5: limits.max-body-bytes: 9999999999GiB (expected: a size*
          max-body-bytes: 512KiB | max-body-byte: 512KiB | sluice.yaml:5: limits.max-body-byte: unknown name (expected: one of max-body-bytes, max-connections, max-exchanges, head-timeout, body-timeout, memory-budget; did you mean max-body-bytes?)
          max-connections: 50 | max-connections: 0 | sluice.yaml:6: limits.max-connections: 0 (expected: a whole number >= 1)
          max-connections: 50 | max-connections: 1000001 | sluice.yaml:6: limits.max-connections: 1000001 (expected: a whole number <= 1000000)
          max-connections: 50 | max-connections: 99999999999999999999999 | sluice.yaml:6: limits.max-connections: 99999999999999999999999 (expected: a whole number <= 1000000)
          max-connections: 50 | max-connections: "50" | sluice.yaml:6: limits.max-connections: "50" (expected: a whole number >= 1)
          max-connections: 50 | max-connections: 0x10 | sluice.yaml:6: limits.max-connections: 0x10 (expected: a whole number >= 1)
          max-connections: 50 | max-connections: 010 | sluice.yaml:6: limits.max-connections: 010 (expected: a whole number >= 1)
          max-connections: 50 | max-connections: 5e1 | sluice.yaml:6: limits.max-connections: 5e1 (expected: a whole number >= 1)
          max-connections: 50 | max-connections: 1_000 | sluice.yaml:6: limits.max-connections: 1_000 (expected: a whole number >= 1)
          head-timeout: 2s | head-timeout: 2 | sluice.yaml:8: limits.head-timeout: 2 (expected: a duration from 1ms to 24h, as in 10s; units ms, s, m, h)
          head-timeout: 2s | head-timeout: 0s | sluice.yaml:8: limits.head-timeout: 0s (expected: a duration*
          head-timeout: 2s | head-timeout: 25h | sluice.yaml:8: limits.head-timeout: 25h (expected: a duration*
          head-timeout: 2s | head-timeout: 2 s | sluice.yaml:8: limits.head-timeout: 2 s (expected: a duration*
          head-timeout: 2s | head-timeout: PT2S | sluice.yaml:8: limits.head-timeout: PT2S (expected: a duration*
          body-timeout: 1m | body-timeout: 1min | sluice.yaml:9: limits.body-timeout: 1min (expected: a duration*
          keys: secrets/keys.yaml | # | sluice.yaml:1: keys: missing (expected: the path of a file)
          keys: secrets/keys.yaml | keys: | sluice.yaml:11: keys: nothing (expected: the path of a file)
          keys: secrets/keys.yaml | keys: "" | sluice.yaml:11: keys: "" (expected: the path of a file)
          keys: secrets/keys.yaml | keys: {a: b} | sluice.yaml:11: keys: a map (expected: the path of a file)
          free: | unknown: | sluice.yaml:13: plans: unknown (expected: 1 to 128 printable characters, no white space at either end, and not unknown)
          free: | " free": | sluice.yaml:13: plans: " free" (expected: 1 to 128*
          free: | "fr\\tee": | sluice.yaml:13: plans: "fr\\u0009ee" (expected: 1 to 128*
          free: | "": | sluice.yaml:13: plans: "" (expected: 1 to 128*
          streams: 2 | streams: 0 | sluice.yaml:14: plans.free.streams: 0 (expected: a whole number >= 1)
          streams: 2 | streams: -3 | sluice.yaml:14: plans.free.streams: -3 (expected: a whole number >= 1)
          streams: 2 | streams: many | sluice.yaml:14: plans.free.streams: many (expected: a whole number >= 1)
          streams: 2 | streams: 2147483648 | sluice.yaml:14: plans.free.streams: 2147483648 (expected: a whole number <= 2147483647)
          streams: 2 | # | sluice.yaml:15: plans.free.streams: missing (expected: a whole number >= 1)
          models: [small] | models: [smal] | sluice.yaml:15: plans.free.models[0]: smal (expected: one of openai/gpt-oss-120b, small; did you mean small?)
          models: [small] | models: [] | sluice.yaml:15: plans.free.models: an empty list (expected: a list of model ids, or ["*"] for every model)
          models: [small] | models: "*" | sluice.yaml:15: plans.free.models: text (expected: a list of model ids, or ["*"] for every model)
          models: [small] | models: [[small]] | sluice.yaml:15: plans.free.models[0]: a list (expected: a list of model ids,*
          models: [small] | # | sluice.yaml:14: plans.free.models: missing (expected: a list of model ids,*
          streams-per-key: 10 | streams-per-key: 0 | sluice.yaml:18: plans.pro.streams-per-key: 0 (expected: a whole number >= 1)
          streams-per-key: 10 | streams-per-key: 101 | sluice.yaml:18: plans.pro.streams-per-key: 101 (expected: a whole number <= streams, which is 100)
          streams-per-key: 10 | streams-per-keys: 10 | sluice.yaml:18: plans.pro.streams-per-keys: unknown name (expected: one of streams, streams-per-key, models; did you mean streams-per-key?)
          openai/gpt-oss-120b: | small: | sluice.yaml:42: small: stands twice (expected: once; it is on line 21 too)
          openai/gpt-oss-120b: | "*": | sluice.yaml:42: models: "*" (expected: 1 to 256 visible ASCII characters, no quotes, no backslash, not * and not unknown)
          openai/gpt-oss-120b: | unknown: | sluice.yaml:42: models: unknown (expected: 1 to 256*
          openai/gpt-oss-120b: | gpt oss: | sluice.yaml:42: models: gpt oss (expected: 1 to 256*
          openai/gpt-oss-120b: | "gpt\\"oss": | sluice.yaml:42: models: "gpt"oss" (expected: 1 to 256*
          openai/gpt-oss-120b: | gpt-öss: | sluice.yaml:42: models: gpt-öss (expected: 1 to 256*
          upstream-model: llama-3.1-8b | upstream-model: "ll\\nama" | sluice.yaml:22: models.small.upstream-model: "ll\\u000aama" (expected: 1 to 256 visible ASCII characters, no quotes, no backslash)
          upstream-model: llama-3.1-8b | upstream-modell: llama-3.1-8b | sluice.yaml:22: models.small.upstream-modell: unknown name (expected: one of upstream-model, upstreams, owned-by, timeouts, balance, attempts, probe; did you mean upstream-model?)
          - url: http://big.example | [] | sluice.yaml:44: models.openai/gpt-oss-120b.upstreams: an empty list (expected: a list of at least one upstream, each with its url)
          - url: http://big.example | {url: x} | sluice.yaml:44: models.openai/gpt-oss-120b.upstreams: a map (expected: a list of at least one upstream, each with its url)
          - url: http://big.example | - http://big.example | sluice.yaml:44: models.openai/gpt-oss-120b.upstreams[0]: text (expected: a map with url, api-key-env, weight)
          - url: http://big.example | - {} | sluice.yaml:44: models.openai/gpt-oss-120b.upstreams[0].url: missing (expected: http or https, a host, an optional port and path, as in https://host:8000)
          - url: http://big.example | - url: big.example | sluice.yaml:44: models.openai/gpt-oss-120b.upstreams[0].url: big.example (expected: http or https,*
          - url: http://big.example | - url: ftp://big.example | sluice.yaml:44: models.openai/gpt-oss-120b.upstreams[0].url: ftp://big.example (expected: http or https,*
          - url: http://big.example | - url: "http://" | sluice.yaml:44: *a host name, an IPv4 address or an IPv6 address in brackets; a port from 1 to 65535)
          - url: http://big.example | - url: http://h:0 | sluice.yaml:44: *http://h:0 (expected: a host name,*
          - url: http://big.example | - url: "http://h:" | sluice.yaml:44: *http://h: (expected: a host name,*
          - url: http://big.example | - url: http://h:65536 | sluice.yaml:44: *http://h:65536 (expected: a host name,*
          - url: http://big.example | - url: http://h h | sluice.yaml:44: *http://h h (expected: a host name,*
          - url: http://big.example | - url: http://::1 | sluice.yaml:44: *http://::1 (expected: a host name,*
          - url: http://big.example | - url: "http://[::1" | sluice.yaml:44: *(expected: a host name,*
          - url: http://big.example | - url: http://1.2.3 | sluice.yaml:44: *http://1.2.3 (expected: a host name,*
          - url: http://big.example | - url: http://-h | sluice.yaml:44: *http://-h (expected: a host name,*
          - url: http://big.example | - url: "http://h\\r\\nX: y" | sluice.yaml:44: *http://h\\u000d\\u000aX: y* (expected: a host name,*
          - url: http://big.example | - url: http://h/a//b | sluice.yaml:44: *http://h/a//b (expected: a path of segments, none empty, none . or ..)
          - url: http://big.example | - url: http://h/a/../b | sluice.yaml:44: *http://h/a/../b (expected: a path of segments,*
          - url: http://big.example | - url: http://h/%2E%2e | sluice.yaml:44: *http://h/%2E%2e (expected: a path of segments,*
          - url: http://big.example | - url: http://h/%zz | sluice.yaml:44: *http://h/%zz (expected: a path of segments,*
          - url: http://big.example | - url: http://h/v1 | sluice.yaml:44: *http://h/v1 (expected: without /v1 at its end: an operation's path, which begins with it, is appended)
          - url: http://big.example | - url: http://h/x/v1/ | sluice.yaml:44: *http://h/x/v1/ (expected: without /v1 at its end:*
          - url: http://big.example | - url: "http://h?api-version=1" | sluice.yaml:44: *.url: has a query or a fragment (expected: no query and no fragment)
          - url: http://big.example | - url: "http://h/#x" | sluice.yaml:44: *.url: has a query or a fragment (expected: no query and no fragment)
          - url: http://big.example | - url: http://u:p@h | sluice.yaml:44: *.url: has user information (expected: no user information; a key comes from api-key-env)
          - url: http://[fd00::7]/base/ | - url: https://10.0.0.7:8000 | ``
          - url: http://[fd00::7]/base/ | - {url: "https://10.0.0.7:8000", api-key-env: SMALL_API_KEY, weight: 9} | sluice.yaml:27: models.small.upstreams[1]: https://10.0.0.7:8000 (expected: each upstream of a model once)
          api-key-env: SMALL_API_KEY | api-key-env: BIG_API_KEY | sluice.yaml:25: models.small.upstreams[0].api-key-env: BIG_API_KEY is not set (expected: an environment variable that holds the key)
          api-key-env: SMALL_API_KEY | api-key-env: EMPTY | sluice.yaml:25: models.small.upstreams[0].api-key-env: EMPTY is empty (expected: an environment variable that holds the key)
          api-key-env: SMALL_API_KEY | api-key-env: LINES | sluice.yaml:25: models.small.upstreams[0].api-key-env: LINES holds white space, a control or another character outside visible ASCII (expected: an environment variable that holds the key alone)
          api-key-env: SMALL_API_KEY | api-key-env: SPACED | sluice.yaml:25: *SPACED holds white space,*
          api-key-env: SMALL_API_KEY | api-key-env: UMLAUT | sluice.yaml:25: *UMLAUT holds white space,*
          api-key-env: SMALL_API_KEY | api-key-env: "" | sluice.yaml:25: *no name (expected: the name of an environment variable: letters, digits and _)
          api-key-env: SMALL_API_KEY | api-key-env: sk-secret | sluice.yaml:25: *text that cannot be the name of a variable (expected: the name of*
          api-key-env: SMALL_API_KEY | api-key: sk-secret | sluice.yaml:25: models.small.upstreams[0].api-key: unknown name (expected: one of url, api-key-env, weight)
          owned-by: acme | owned-by: "" | sluice.yaml:28: models.small.owned-by: "" (expected: 1 to 128*
          connect: 1s | connect: 0ms | sluice.yaml:30: models.small.timeouts.connect: 0ms (expected: a duration*
          first-byte: 2m | firstbyte: 2m | sluice.yaml:31: models.small.timeouts.firstbyte: unknown name (expected: one of connect, first-byte, idle, total; did you mean first-byte?)
          idle: 500ms | idle: 500 | sluice.yaml:32: models.small.timeouts.idle: 500 (expected: a duration*
          /v1/embeddings: | /v1/chat/completions: | sluice.yaml:46: operations: /v1/chat/completions (expected: a path that is not built in)
          /v1/embeddings: | /v1/messages: | sluice.yaml:46: operations: /v1/messages (expected: a path that is not built in)
          /v1/embeddings: | /v1/models: | sluice.yaml:46: operations: /v1/models (expected: a path other than /v1/models, which lists the models)
          /v1/embeddings: | /v1/models/x: | sluice.yaml:46: operations: /v1/models/x (expected: a path other than /v1/models, which lists the models)
          /v1/embeddings: | /v1/Models: | sluice.yaml:46: operations: /v1/Models (expected: a path whose name in metrics is not models)
          /v1/embeddings: | /v1/unknown: | sluice.yaml:46: operations: /v1/unknown (expected: a path whose name in metrics is not unknown)
          /v1/embeddings: | /v1/chat_completions: | sluice.yaml:46: operations: /v1/chat_completions (expected: a path whose name in metrics, chat_completions, is not that of /v1/chat/completions)
          /v1/embeddings: | /v1/chat/special-v2: | sluice.yaml:48: operations: /v1/chat/special.v2 (expected: a path whose name in metrics, chat_special_v2, is not that of /v1/chat/special-v2)
          /v1/embeddings: | /v2/embeddings: | sluice.yaml:46: operations: /v2/embeddings (expected: /v1/ and then letters, digits, . _ ~ - and single slashes, at most 128 characters)
          /v1/embeddings: | /v1/: | sluice.yaml:46: operations: /v1/ (expected: /v1/ and then*
          /v1/embeddings: | /v1/a/: | sluice.yaml:46: operations: /v1/a/ (expected: /v1/ and then*
          /v1/embeddings: | /v1//a: | sluice.yaml:46: operations: /v1//a (expected: /v1/ and then*
          /v1/embeddings: | /v1/../a: | sluice.yaml:46: operations: /v1/../a (expected: /v1/ and then*
          /v1/embeddings: | /v1/a/..: | sluice.yaml:46: operations: /v1/a/.. (expected: /v1/ and then*
          /v1/embeddings: | /v1/a?b: | sluice.yaml:46: operations: /v1/a?b (expected: /v1/ and then*
          /v1/embeddings: | /v1/a%20b: | sluice.yaml:46: operations: /v1/a%20b (expected: /v1/ and then*
          weight: 3 | weight: 0 | sluice.yaml:26: models.small.upstreams[0].weight: 0 (expected: a whole number >= 1)
          weight: 3 | weight: 1001 | sluice.yaml:26: models.small.upstreams[0].weight: 1001 (expected: a whole number <= 1000)
          total: 2h | total: 0s | sluice.yaml:33: models.small.timeouts.total: 0s (expected: a duration*
          balance: prefix-affinity | balance: round-robin | sluice.yaml:34: models.small.balance: round-robin (expected: least-exchanges or prefix-affinity)
          balance: prefix-affinity | balance: PREFIX_AFFINITY | sluice.yaml:34: models.small.balance: PREFIX_AFFINITY (expected: least-exchanges or prefix-affinity)
          attempts: 3 | attempts: 0 | sluice.yaml:35: models.small.attempts: 0 (expected: a whole number >= 1)
          attempts: 3 | attempts: 6 | sluice.yaml:35: models.small.attempts: 6 (expected: a whole number <= 5)
          path: /healthz?full=1 | path: healthz | sluice.yaml:37: models.small.probe.path: healthz (expected: a path as it stands in a request line, as in /health)
          path: /healthz?full=1 | path: "/a b" | sluice.yaml:37: models.small.probe.path: "/a b" (expected: a path*
          path: /healthz?full=1 | path: "/a#b" | sluice.yaml:37: models.small.probe.path: "/a#b" (expected: a path*
          interval: 1s | interval: 0s | sluice.yaml:38: models.small.probe.interval: 0s (expected: a duration*
          healthy-after: 1 | healthy-after: 0 | sluice.yaml:40: models.small.probe.healthy-after: 0 (expected: a whole number >= 1)
          max-exchanges: 60 | max-exchanges: 0 | sluice.yaml:7: limits.max-exchanges: 0 (expected: a whole number >= 1)
          memory-budget: 3072MiB | memory-budget: 1KiB | sluice.yaml:10: limits.memory-budget: 1KiB (expected: a size from 1048576B to 1024GiB, as in 2GiB; units B, kB, KiB, MB, MiB, GB, GiB)
          sse-ping: 15s | sse-ping: 15 | sluice.yaml:50: sse-ping: 15 (expected: a duration*
          revoke: cut | revoke: true | sluice.yaml:51: revoke: true (expected: finish or cut)
          admin-token-env: ADMIN_TOKEN | admin-token-env: secret-token | sluice.yaml:52: *text that cannot be the name of a variable (expected: the name of*
          admin-token-env: ADMIN_TOKEN | admin-token-env: NOT_SET | sluice.yaml:52: admin-token-env: NOT_SET is not set (expected: an environment variable that holds the key)
          messages: false | message: false | sluice.yaml:47: operations./v1/embeddings.message: unknown name (expected: one of messages; did you mean messages?)
          messages: false | messages: no | sluice.yaml:47: operations./v1/embeddings.messages: no (expected: true or false)
          messages: false | messages: "false" | sluice.yaml:47: operations./v1/embeddings.messages: "false" (expected: true or false)
          messages: false | {} | sluice.yaml:47: operations./v1/embeddings.messages: missing (expected: true or false)
          shutdown-grace: 1h | shutdown-grace: 30 | sluice.yaml:53: shutdown-grace: 30 (expected: a duration from 0ms to 24h, as in 10s; units ms, s, m, h)
          """)
  void aChangedLineIsAFault(String line, String changed, String expected) {
    assertThat(ConfigText.WHOLE).contains(line);
    int at = ConfigText.WHOLE.indexOf(line);
    String text =
        ConfigText.WHOLE.substring(0, at)
            + changed
            + ConfigText.WHOLE.substring(at + line.length());
    List<String> faults = faults(text);
    if (expected.isEmpty()) {
      assertThat(faults).isEmpty();
    } else {
      // A line that misses or misspells a required name may have a second fault: the missing name.
      assertThat(faults).filteredOn(fault -> matches(fault, expected)).hasSize(1);
      assertThat(faults)
          .filteredOn(fault -> !matches(fault, expected))
          .allMatch(fault -> fault.contains(": missing ") && expected.contains("unknown name"));
    }
  }

  @Test
  void allFaultsAreToldAtOnce() {
    String text =
        ConfigText.WHOLE
            .replace("streams: 2\n", "streams: 0\n")
            .replace("512KiB", "512")
            .replace("SMALL_API_KEY", "BIG_API_KEY")
            .replace("[small]", "[smal]");
    assertThat(faults(text))
        .extracting(fault -> fault.split(" ", 2)[0])
        .containsExactly("sluice.yaml:5:", "sluice.yaml:14:", "sluice.yaml:15:", "sluice.yaml:25:");
  }

  @Test
  void anEmptyMapLacksWhatIsRequired() {
    assertThat(faults("{}"))
        .containsExactlyInAnyOrder(
            "sluice.yaml:1: keys: missing (expected: the path of a file)",
            "sluice.yaml:1: models: missing (expected: a map from at least one model id to its"
                + " upstreams)",
            "sluice.yaml:1: plans: missing (expected: a map from at least one name of a plan to its"
                + " slots and models)");
  }

  @Test
  void plansAndModelsAreAtLeastOne() {
    assertThat(faults("keys: k\nplans: {}\nmodels: {}\n"))
        .satisfiesExactly(
            fault -> assertThat(fault).startsWith("sluice.yaml:2: plans: an empty map"),
            fault -> assertThat(fault).startsWith("sluice.yaml:3: models: an empty map"));
  }

  @Test
  void namesOfTheLongestLengthAreGoodAndOneMoreIsAFault() {
    String plan = "p".repeat(128);
    String model = "m".repeat(256);
    String text =
        "keys: k\n"
            + "plans: {%s: {streams: 1, models: [%s]}}\n"
            + "models: {%s: {upstreams: [{url: \"http://h\"}]}}\n";
    assertThat(faults(text.formatted(plan, model, model))).isEmpty();
    assertThat(faults(text.formatted(plan + "p", model, model))).hasSize(1);
    assertThat(faults(text.formatted(plan, model + "m", model + "m"))).isNotEmpty();
  }

  @Test
  void noFaultSaysASecret() {
    String text =
        ConfigText.WHOLE
            .replace("- url: http://big.example", "- url: http://user:hunter2@h?key=hunter2")
            .replace("api-key-env: SMALL_API_KEY", "api-key-env: SPACED")
            .replace("owned-by: acme", "api-key: hunter2")
            .replace("- url: http://[fd00::7]/base/", "- hunter2");
    assertThat(faults(text)).hasSize(4).noneMatch(fault -> fault.matches(".*(hunter2|secret-).*"));
  }

  @Test
  void theKeysFileAndThePlansOfAFaultyConfigurationAreKnown() {
    ConfigFile file =
        ConfigText.read(
            directory, ConfigText.WHOLE.replace("streams: 2\n", "streams: 0\n").getBytes(UTF_8));
    assertThat(ConfigText.faults(directory, file)).hasSize(1);
    assertThat(file.keysFile()).isEqualTo(directory.resolve("secrets/keys.yaml"));
    assertThat(file.planNames()).containsExactlyInAnyOrder("free", "pro");
  }

  private List<String> faults(String text) {
    return ConfigText.faults(directory, ConfigText.read(directory, text.getBytes(UTF_8)));
  }

  /** Whether the text is {@code pattern}, where {@code *} stands for any text. */
  private static boolean matches(String text, String pattern) {
    int at = 0;
    String[] pieces = pattern.split("\\*", -1);
    boolean literal = pieces.length == 1 || text.equals(pattern);
    if (literal) {
      return text.equals(pattern);
    }
    for (String piece : pieces) {
      int found = text.indexOf(piece, at);
      if (found < 0 || (at == 0 && found != 0)) {
        return false;
      }
      at = found + piece.length();
    }
    return pieces[pieces.length - 1].isEmpty() || text.endsWith(pieces[pieces.length - 1]);
  }
}
