package dev.sluice.cluster;

import static dev.sluice.cluster.LiveEndpoint.State.EJECTED;
import static dev.sluice.cluster.LiveEndpoint.State.HEALTHY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.cluster.Cluster.Outcome;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Endpoints have names, and what is known of them outlives a reload. */
class CatalogTest {
  @Test
  void anEndpointIsNamedByItsPlace() {
    Cluster cluster =
        cluster(
            null,
            new Endpoint("10.0.0.7", 8000, false, "", null),
            new Endpoint("10.0.0.7", 8000, false, "/b", null),
            new Endpoint("10.0.0.7", 8000, false, "", "other"),
            new Endpoint("10.0.0.7", 8000, true, "", "third"),
            new Endpoint("::1", 443, true, "", null));

    assertThat(cluster.endpoints())
        .extracting(LiveEndpoint::id)
        .containsExactly(
            "10.0.0.7:8000", "10.0.0.7:8000/b", "10.0.0.7:8000~2", "10.0.0.7:8000~3", "[::1]");
  }

  @Test
  void whatIsKnownOfAnEndpointOutlivesAReload() {
    Endpoint a = ClusterFixture.endpoint('a');
    Endpoint b = ClusterFixture.endpoint('b');
    Endpoint c = ClusterFixture.endpoint('c');
    Cluster before = cluster(null, a, b);
    LiveEndpoint old = Objects.requireNonNull(before.pick(1, List.of(), 0));
    Endpoint picked = old.endpoint();
    for (int i = 0; i < 5; i++) {
      Objects.requireNonNull(before.pick(1, before.endpoints().subList(1, 2), 0));
      before.ended(before.endpoints().get(0), Outcome.FAILED, 0, 0);
    }

    Cluster after = cluster(before, c, b.withWeight(7), a);
    assertThat(state(after, a)).isEqualTo(EJECTED);
    assertThat(state(after, b.withWeight(7))).isEqualTo(HEALTHY);
    assertThat(state(after, c)).isEqualTo(HEALTHY);
    LiveEndpoint now = find(after, picked.equals(b) ? b.withWeight(7) : a);
    assertThat(now.openExchanges()).isEqualTo(1);
    before.ended(old, Outcome.CANCELLED, 0, 0);
    assertThat(now.openExchanges()).isZero();
    find(after, a).restore();
    assertThat(state(before, a)).isEqualTo(HEALTHY);
  }

  @Test
  void anEndpointThatDiffersInMoreThanItsWeightIsAnother() {
    Endpoint a = ClusterFixture.endpoint('a');
    Endpoint other = new Endpoint("a", 80, false, "", "other");
    Cluster before = cluster(null, a);
    before.endpoints().get(0).eject();

    assertThat(state(cluster(before, other), other)).isEqualTo(HEALTHY);
  }

  @Test
  void theSameEndpointTwiceHasTwoLives() {
    Endpoint a = ClusterFixture.endpoint('a');
    Cluster before = cluster(null, a, a);
    Cluster after = cluster(before, a, a);
    after.endpoints().get(0).eject();

    assertThat(after.endpoints().get(1).state(0)).isEqualTo(HEALTHY);
    assertThat(before.endpoints().get(1).state(0)).isEqualTo(HEALTHY);
  }

  @Test
  void anotherModelsEndpointsAreOthers() {
    Endpoint a = ClusterFixture.endpoint('a');
    Catalog before = new Catalog(List.of(model("small", a)));
    Objects.requireNonNull(before.find("small")).endpoints().get(0).eject();
    Catalog after = new Catalog(List.of(model("small", a), model("big", a)), before);

    assertThat(state(Objects.requireNonNull(after.find("small")), a))
        .isEqualTo(LiveEndpoint.State.OUT);
    assertThat(state(Objects.requireNonNull(after.find("big")), a)).isEqualTo(HEALTHY);
  }

  private static Cluster cluster(@org.jspecify.annotations.Nullable Cluster before, Endpoint... e) {
    return new Cluster(model("small", e), before);
  }

  private static Model model(String id, Endpoint... endpoints) {
    Model model = ClusterFixture.model(Balance.LEAST_EXCHANGES, null, List.of(endpoints));
    return new Model(
        id,
        null,
        model.endpoints(),
        model.timeouts(),
        model.balance(),
        model.attempts(),
        null,
        "acme",
        model.created());
  }

  private static LiveEndpoint find(Cluster cluster, Endpoint endpoint) {
    return cluster.endpoints().stream()
        .filter(live -> live.endpoint().equals(endpoint))
        .findFirst()
        .orElseThrow();
  }

  private static LiveEndpoint.State state(Cluster cluster, Endpoint endpoint) {
    return find(cluster, endpoint).state(0);
  }
}
