package dev.sluice.config;

import dev.sluice.access.Plan;
import dev.sluice.cluster.Model;
import dev.sluice.http.HttpLimits;
import dev.sluice.message.Operation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A configuration without faults.
 *
 * <table>
 *   <caption>The names of the file</caption>
 *   <tr><th>name</th><th>default</th><th>what it does</th></tr>
 *   <tr><td>listen</td><td>0.0.0.0:8080</td><td>where callers connect</td></tr>
 *   <tr><td>admin</td><td>127.0.0.1:9901</td><td>where metrics and health are served</td></tr>
 *   <tr><td>status</td><td>none</td><td>where the status page is served</td></tr>
 *   <tr><td>access-log</td><td>stdout</td><td>none, stdout, or a file</td></tr>
 *   <tr><td>limits.max-body-bytes</td><td>32MiB</td><td>413 above; 1B to 1GiB</td></tr>
 *   <tr><td>limits.max-connections</td><td>10000</td><td>503 above; 1 to 1 000 000</td></tr>
 *   <tr><td>limits.max-exchanges</td><td>10000</td><td>503 above; 1 to 1 000 000</td></tr>
 *   <tr><td>limits.memory-budget</td><td>half the direct memory</td><td>503 above; 1MiB to 1TiB</td></tr>
 *   <tr><td>limits.head-timeout</td><td>10s</td><td>408 after it; 1ms to 24h</td></tr>
 *   <tr><td>limits.body-timeout</td><td>60s</td><td>408 after it; 1ms to 24h</td></tr>
 *   <tr><td>keys</td><td>required</td><td>the keys file</td></tr>
 *   <tr><td>plans</td><td>required</td><td>slots and models of each plan; at least one</td></tr>
 *   <tr><td>models</td><td>required</td><td>where each model is served; at least one</td></tr>
 *   <tr><td>operations</td><td>none</td><td>paths beside the built-in ones</td></tr>
 *   <tr><td>tracing.otlp</td><td>none</td><td>where spans are sent</td></tr>
 *   <tr><td>tracing.sample</td><td>0.1</td><td>the share of new traces that is; 0 to 1</td></tr>
 *   <tr><td>sse-ping</td><td>none</td><td>a comment line in gaps of streams; 1ms to 24h</td></tr>
 *   <tr><td>revoke</td><td>finish</td><td>finish or cut the streams of a revoked key</td></tr>
 *   <tr><td>admin-token-env</td><td>none</td><td>environment variable with the operators' token</td></tr>
 *   <tr><td>shutdown-grace</td><td>30s</td><td>how long running answers may end; 0ms to 24h</td></tr>
 * </table>
 *
 * @param listen where callers connect
 * @param admin where metrics and health are served; nothing of it is reachable on {@code listen}
 * @param status where the status page is served; null for nowhere
 * @param accessLog where one line an exchange goes
 * @param limits bounds on what a caller's connection may send; those without a name in the file
 *     have their defaults
 * @param memoryBudgetBytes how much memory held bodies and relay buffers may take together; empty
 *     for half the direct memory
 * @param keysFile the keys file, found from the directory of the configuration file; watched while
 *     the process runs
 * @param plans the plans by name, in the order of the file; at least one
 * @param models the models in the order of the file; at least one; ids are unique
 * @param operations the built-in operations, then the configured ones; names and paths are unique
 * @param tracing where spans are sent
 * @param ssePing how long a stream may be silent before its caller is sent a comment line; {@link
 *     #NO_PING} for never
 * @param revoke what becomes of the running streams of a revoked key
 * @param adminToken what operators must send to change something; null where only loopback may
 * @param shutdownGrace how long running answers may go on after SIGTERM; zero ends them at once
 */
public record SluiceConfig(
    ListenAddress listen,
    ListenAddress admin,
    @Nullable ListenAddress status,
    AccessLog accessLog,
    HttpLimits limits,
    OptionalLong memoryBudgetBytes,
    Path keysFile,
    Map<String, Plan> plans,
    List<Model> models,
    List<Operation> operations,
    Tracing tracing,
    Duration ssePing,
    Revoke revoke,
    @Nullable String adminToken,
    Duration shutdownGrace) {

  /** {@code sse-ping} of a file that does not say. */
  public static final Duration NO_PING = Duration.ZERO;

  /** {@code listen} of a file that does not say. */
  public static final ListenAddress DEFAULT_LISTEN = new ListenAddress("0.0.0.0", 8080);

  /** {@code admin} of a file that does not say. */
  public static final ListenAddress DEFAULT_ADMIN = new ListenAddress("127.0.0.1", 9901);

  /** {@code shutdown-grace} of a file that does not say. */
  public static final Duration DEFAULT_SHUTDOWN_GRACE = Duration.ofSeconds(30);

  /** {@code owned-by} of a model that does not say. */
  public static final String DEFAULT_OWNED_BY = "sluice";

  /** Copies the collections, their order kept. */
  public SluiceConfig {
    plans = Collections.unmodifiableMap(new LinkedHashMap<>(plans));
    models = List.copyOf(models);
    operations = List.copyOf(operations);
  }
}
