import { count, el, live, time } from "./live.js";

const byId = (id) => document.getElementById(id);

// Keeps the elements of a list that are still there, with their focus, and their order.
function keep(parent, items, idOf, create, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.id, child]));
  items.forEach((item, place) => {
    const id = idOf(item);
    let child = known.get(id);
    if (child) {
      known.delete(id);
    } else {
      child = create(item);
      child.dataset.id = id;
    }
    if (parent.children[place] !== child) {
      parent.insertBefore(child, parent.children[place] ?? null);
    }
    update(child, item);
  });
  for (let extra = parent.children[items.length]; extra; extra = parent.children[items.length]) {
    extra.remove();
  }
}

function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

// What is wrong.

function showProblems({ problems }) {
  document.title = problems.length > 0 ? `(${problems.length}) Sluice` : "Sluice";
  // Said when it changes, not with every second that a text counts down.
  setText(byId("news"), problems.length > 0 ? `Wrong now: ${count(problems.length, "thing")}.` : "Nothing is wrong.");
  const told = problems.length > 0 ? problems : [{ severity: "none", text: "Nothing that Sluice knows of." }];
  keep(
    byId("problems"),
    told.map((problem, place) => ({ ...problem, place })),
    (problem) => String(problem.place),
    () => el("li"),
    (item, problem) => {
      item.className = `problem ${problem.severity}`;
      setText(item, problem.severity === "alarm" ? `Alarm: ${problem.text}` : problem.text);
    },
  );
}

// How much is under way.

function showOverview(overview) {
  const figures = [
    ["Exchanges", String(overview.exchanges), `of ${overview.max_exchanges}`],
    ["Streams", String(overview.streams), "of them"],
    ["Connections", String(overview.connections), `of ${overview.max_connections}`],
    ["Memory held", bytes(overview.memory_held_bytes), `of ${bytes(overview.memory_limit_bytes)}`],
  ];
  keep(
    byId("overview"),
    figures,
    ([name]) => name,
    ([name]) => el("div", "", el("dt", "", name), el("dd", "", el("span"), " ", el("small", "quiet"))),
    (item, [, value, bound]) => {
      setText(item.querySelector("span"), value);
      setText(item.querySelector("small"), bound);
    },
  );
  keep(
    byId("plans"),
    overview.plans,
    (plan) => plan.name,
    (plan) => {
      const meter = el("meter");
      meter.setAttribute("aria-label", `Stream slots of plan ${plan.name}`);
      return el("li", "", el("span", "", `Plan ${plan.name}`), el("span"), meter);
    },
    (item, plan) => {
      const [, used, meter] = item.children;
      setText(used, `${plan.slots_in_use} of ${plan.slots} slots`);
      meter.max = plan.slots;
      meter.high = plan.slots * 0.8;
      meter.value = plan.slots_in_use;
    },
  );
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  let amount = number;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}

function seconds(number) {
  if (number < 120) {
    return `${number} s`;
  }
  const minutes = Math.floor(number / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Endpoints, and their use.

const HEALTH = {
  healthy: ["available", "healthy"],
  ejected: ["unavailable", "ejected"],
  set_aside: ["degraded", "set aside"],
  unwell: ["unavailable", "unwell"],
  out: ["maintenance", "out"],
};
let endpoints = [];

function showEndpoints(shown) {
  endpoints = shown.endpoints;
  keep(
    byId("endpoints"),
    endpoints,
    (endpoint) => `${endpoint.model} ${endpoint.id}`,
    newEndpoint,
    showEndpoint,
  );
  showModels([...new Set(endpoints.map((endpoint) => endpoint.model))]);
}

function newEndpoint(endpoint) {
  const use = el("button");
  use.type = "button";
  use.addEventListener("click", () => changeUse(endpoint.model, endpoint.id));
  const row = el("tr", "", el("td", "", endpoint.model), el("td", "mono", endpoint.id));
  row.append(el("td", "", el("span")), el("td", "number"), el("td", "number"), el("td", "", use));
  return row;
}

function showEndpoint(row, endpoint) {
  const [, , health, open, weight, use] = row.children;
  const [state, word] =
    endpoint.failing && endpoint.state === "healthy" ? ["degraded", "failing"] : HEALTH[endpoint.state];
  health.firstChild.className = `state ${state}`;
  setText(
    health.firstChild,
    endpoint.wait_seconds > 0 ? `${word} for ${seconds(endpoint.wait_seconds)}` : word,
  );
  setText(open, String(endpoint.open_exchanges));
  setText(weight, String(endpoint.weight));
  const name = endpoint.state === "healthy" ? "Eject" : "Restore";
  const button = use.firstChild;
  setText(button, name);
  button.className = name === "Eject" ? "grave" : "";
  button.setAttribute("aria-label", `${name} endpoint ${endpoint.id} of model ${endpoint.model}`);
}

async function changeUse(model, id) {
  const endpoint = endpoints.find((one) => one.model === model && one.id === id);
  const eject = endpoint.state === "healthy";
  const others = endpoints.filter((one) => one.model === model && one.id !== id && one.state === "healthy");
  const sure =
    !eject ||
    others.length > 0 ||
    (await confirmed(`Endpoint ${id} is the last that model ${model} has. Without it callers are answered 503.`, "Eject it"));
  if (sure) {
    const path = id.split("/").map(encodeURIComponent).join("/");
    const what = eject ? "eject" : "restore";
    await call(
      `/endpoints/${path}/${what}?model=${encodeURIComponent(model)}`,
      `Endpoint ${id} of model ${model} is ${eject ? "ejected" : "restored"}.`,
    );
  }
}

// Maintenance.

const ALL = "*";

function showModels(models) {
  keep(
    byId("maintained"),
    [ALL, ...models],
    (model) => model,
    (model) => {
      const option = el("option", "", model === ALL ? "all models" : model);
      option.value = model;
      return option;
    },
    () => {},
  );
}

function showMaintenance({ maintenance }) {
  keep(
    byId("maintenance"),
    maintenance,
    (one) => one.model,
    (one) => {
      const end = el("button", "", "End");
      end.type = "button";
      end.setAttribute("aria-label", `End the maintenance of ${named(one.model)}`);
      end.addEventListener("click", () => maintain(one.model, "0s"));
      return el("li", "", el("span", "state maintenance"), end);
    },
    (item, one) =>
      setText(item.firstChild, `${named(one.model)}: ${seconds(one.remaining_seconds)} more`),
  );
}

function named(model) {
  return model === ALL ? "all models" : `model ${model}`;
}

function maintain(model, length) {
  const of = model === ALL ? "" : `&model=${encodeURIComponent(model)}`;
  const what = length === "0s" ? "is over" : `is on for ${length}`;
  return call(`/maintenance?for=${length}${of}`, `Maintenance of ${named(model)} ${what}.`);
}

byId("maintenance-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const model = byId("maintained").value;
  const length = byId("length").value;
  const sure =
    model !== ALL ||
    (await confirmed(`For ${length} every new request is answered 503, for every model.`, "Begin"));
  if (sure) {
    await maintain(model, length);
  }
});

// Drain.

function showDrain(drain) {
  setText(
    byId("drain-state"),
    drain.draining
      ? `Draining: ${count(drain.exchanges, "exchange")} left, ${drain.streams} of them streams. What still runs is ended in ${seconds(drain.deadline_seconds)}.`
      : `Not draining. ${count(drain.exchanges, "exchange")} under way, ${drain.streams} of them streams.`,
  );
  setText(byId("drain-button"), drain.draining ? "Move the deadline …" : "Drain …");
}

byId("drain-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const deadline = byId("deadline").value;
  const text = `New requests are refused from now on, and what runs is ended ${deadline ? `in ${deadline}` : "after the grace period of a shutdown"}. Nothing ends this but the end of the process.`;
  if (await confirmed(text, "Drain")) {
    await call(deadline ? `/drain?deadline=${deadline}` : "/drain", "Sluice drains.");
  }
});

// What the buttons do.

function confirmed(text, yes) {
  const dialog = byId("confirm");
  setText(byId("confirm-text"), text);
  setText(byId("confirm-yes"), yes);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((done) =>
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }),
  );
}

async function call(path, done) {
  const token = byId("token").value;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let text = done;
  let failed = false;
  if (needsToken && !token) {
    failed = true;
    text = "Enter the operators' token first.";
  } else {
    try {
      const answer = await fetch(path, { method: "POST", headers });
      if (!answer.ok) {
        failed = true;
        text = `Refused: ${(await answer.json()).error}`;
      }
    } catch {
      failed = true;
      text = "Sluice could not be asked. Nothing is known to have changed.";
    }
  }
  const said = byId("said");
  said.className = failed ? "said-last failed" : "said-last";
  said.textContent = text;
  if (failed && needsToken) {
    byId("token").focus();
  }
}

// Exchanges.

let lastExchanges = { total: 0, exchanges: [] };
byId("filter").addEventListener("input", () => showExchanges(lastExchanges));

function showExchanges(shown) {
  lastExchanges = shown;
  const filter = byId("filter").value.trim().toLowerCase();
  const matching = shown.exchanges.filter((exchange) =>
    [
      exchange.request_id,
      exchange.operation,
      exchange.model,
      exchange.plan,
      exchange.key,
      exchange.phase,
      exchange.endpoint,
    ].some((text) => text?.toLowerCase().includes(filter)),
  );
  keep(
    byId("exchanges"),
    matching,
    (exchange) => exchange.request_id,
    () => {
      const row = el("tr");
      for (const kind of ["number", "", "", "", "", "mono", "number", "number", "number", "number", "mono"]) {
        row.append(el("td", kind));
      }
      return row;
    },
    (row, exchange) =>
      [
        seconds(exchange.age_seconds),
        exchange.model ?? exchange.operation,
        exchange.plan ?? "",
        exchange.key ?? "",
        exchange.stream ? `${exchange.phase}, stream` : exchange.phase,
        exchange.endpoint ?? "",
        String(exchange.attempts),
        bytes(exchange.bytes_in),
        bytes(exchange.bytes_out),
        String(exchange.events),
        exchange.request_id,
      ].forEach((text, place) => setText(row.children[place], text)),
  );
  const oldest = shown.total > shown.exchanges.length ? `, of which the oldest ${shown.exchanges.length} are known here` : "";
  setText(
    byId("exchanges-count"),
    `${matching.length} shown, oldest first. ${count(shown.total, "exchange")} under way${oldest}.`,
  );
}

// Files.

function showReloads({ reloads }) {
  byId("reloads").replaceChildren(
    ...reloads.map((reload) => {
      const at = new Date(reload.at);
      const when = el("time", "quiet", `${at.toLocaleDateString()} ${time(at, true)}`);
      when.dateTime = reload.at;
      const refused = reload.result === "refused";
      const state = el("span", `state ${refused ? "unavailable" : "available"}`, refused ? "refused" : "taken");
      const name = el("span", "mono", reload.file);
      const item = el("li", "", when, " ", state, " ", name, `: ${reload.told}`);
      if (reload.faults.length > 0) {
        item.append(el("ul", "faults mono", ...reload.faults.map((fault) => el("li", "", fault))));
      }
      return item;
    }),
  );
}

let needsToken = false;

function showConfig(config) {
  needsToken = config.config["admin-token-env"] !== null;
  byId("token-form").hidden = !needsToken;
  setText(
    byId("config-summary"),
    `Version ${config.version} of ${config.file}, taken ${new Date(config.loaded_at).toLocaleString()}`,
  );
  setText(byId("config"), JSON.stringify(config.config, null, 2));
}

live({
  problems: { path: "/problems", show: showProblems },
  overview: { path: "/overview", show: showOverview },
  endpoints: { path: "/endpoints", show: showEndpoints },
  maintenance: { path: "/maintenance", show: showMaintenance },
  drain: { path: "/drain", show: showDrain },
  exchanges: { path: "/exchanges", show: showExchanges },
  reloads: { path: "/reloads", show: showReloads },
  config: { path: "/config", show: showConfig },
});
