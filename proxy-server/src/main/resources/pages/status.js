import { count, el, live, time } from "./live.js";

const WORDS = {
  a: "available",
  d: "degraded",
  m: "maintenance",
  u: "unavailable",
  "-": "not known",
};
const BADNESS = "-admu";

// How the models are.

const rows = new Map(); // id → the elements of its row
const known = new Map(); // id → its availability, as it was last told

/** How many bars a day has: fewer where there is less room. */
const narrow = matchMedia("(max-width: 40rem)");
let lastStatus = null;
narrow.addEventListener("change", () => lastStatus && show(lastStatus));

function show(status) {
  lastStatus = status;
  tellNews(status.models);
  summarize(status.models);
  const list = document.getElementById("models");
  const ids = new Set(status.models.map((model) => model.id));
  for (const [id, row] of rows) {
    if (!ids.has(id)) {
      row.item.remove();
      rows.delete(id);
    }
  }
  status.models.forEach((model, place) => {
    if (!rows.has(model.id)) {
      rows.set(model.id, newRow(model.id));
    }
    const row = rows.get(model.id);
    if (list.children[place] !== row.item) {
      list.insertBefore(row.item, list.children[place] ?? null);
    }
    showModel(row, model, status);
  });
  document.getElementById("since").textContent = status.since
    ? `Seen since ${new Date(status.since).toLocaleString()}.`
    : "";
}

function tellNews(models) {
  const news = models
    .filter((model) => known.has(model.id) && known.get(model.id) !== model.availability)
    .map((model) => `${model.id} is now ${inWords(model)}.`);
  if (news.length > 0) {
    document.getElementById("news").textContent = news.join(" ");
  }
  known.clear();
  models.forEach((model) => known.set(model.id, model.availability));
}

function inWords(model) {
  return model.availability === "maintenance" ? "in maintenance" : model.availability;
}

function summarize(models) {
  const bad = ["unavailable", "maintenance", "degraded"]
    .map((state) => [state, models.filter((model) => model.availability === state)])
    .filter(([, concerned]) => concerned.length > 0);
  const summary = document.getElementById("summary");
  summary.className = `summary ${bad.length > 0 ? bad[0][0] : "available"}`;
  summary.textContent =
    bad.length === 0
      ? models.length === 1
        ? "The model is available."
        : `All ${models.length} models are available.`
      : `Of ${count(models.length, "model")} ${bad
          .map(([, concerned]) => `${concerned.length} ${verb(concerned)} ${inWords(concerned[0])}`)
          .join(", ")}.`;
}

function verb(models) {
  return models.length === 1 ? "is" : "are";
}

function newRow(id) {
  const row = {
    state: el("p"),
    day: el("div", "day"),
    ends: el("p", "quiet ends"),
    started: el("span"),
    answered: el("span"),
    details: el("details", "quiet"),
    count: el("summary"),
    episodes: el("ul"),
    none: el("p", "quiet"),
  };
  row.day.setAttribute("role", "img");
  row.ends.append(row.started, row.answered, el("span", "", "now"));
  row.details.append(row.count, row.episodes);
  row.item = el(
    "li",
    "sheet",
    el("div", "model-head", el("h3", "", id), row.state),
    row.day,
    row.ends,
    row.none,
    row.details,
  );
  return row;
}

function showModel(row, model, status) {
  row.state.className = `state ${model.availability}`;
  row.state.textContent = model.until
    ? `${model.availability} until ${time(new Date(model.until))}`
    : model.availability;
  const first = Date.parse(status.first_bucket);
  const at = (bucket) => new Date(first + bucket * status.bucket_seconds * 1000);
  const episodes = badEpisodes(model.history);
  showDay(row.day, model.history, at);
  row.day.setAttribute("aria-label", spoken(episodes, at));
  row.started.textContent = "24 h ago";
  row.answered.textContent =
    model.answered_percent === null ? "" : `${model.answered_percent} % answered`;
  row.details.hidden = episodes.length === 0;
  row.none.hidden = episodes.length > 0;
  row.none.textContent = "No incidents in the last 24 hours.";
  row.count.textContent = `${count(episodes.length, "incident")} in the last 24 hours`;
  row.episodes.replaceChildren(
    ...episodes
      .slice()
      .reverse()
      .map((episode) =>
        el(
          "li",
          "",
          `${period(episode, at)} `,
          el("span", `state ${WORDS[episode.letter]}`, WORDS[episode.letter]),
        ),
      ),
  );
}

/** One bar for each quarter of an hour, or half where there is less room; each shows its worst. */
function showDay(day, history, at) {
  const each = narrow.matches ? 6 : 3;
  const bars = [];
  for (let from = 0; from < history.length; from += each) {
    const letter = worst(history.slice(from, from + each));
    const bar = el("i", letter === "-" ? "" : letter);
    bar.title = `${time(at(from))} to ${time(at(from + each))}: ${WORDS[letter]}`;
    bars.push(bar);
  }
  day.replaceChildren(...bars);
}

function worst(letters) {
  return [...letters].reduce((a, b) => (BADNESS.indexOf(b) > BADNESS.indexOf(a) ? b : a));
}

/** What was not as it should be: runs of one letter. */
function badEpisodes(history) {
  const episodes = [];
  for (let i = 0; i < history.length; i++) {
    const letter = history[i];
    if (letter === "a" || letter === "-") {
      continue;
    }
    const before = episodes.at(-1);
    if (before && before.to === i && before.letter === letter) {
      before.to = i + 1;
    } else {
      episodes.push({ from: i, to: i + 1, letter });
    }
  }
  episodes.forEach((episode) => {
    episode.ended = episode.to < history.length;
  });
  return episodes;
}

function period(episode, at) {
  return episode.ended
    ? `${time(at(episode.from))} to ${time(at(episode.to))}`
    : `since ${time(at(episode.from))}`;
}

function spoken(episodes, at) {
  const told = episodes.map(
    (episode) => `${WORDS[episode.letter]} ${period(episode, at)}`,
  );
  return `The last 24 hours: ${told.length > 0 ? told.join(", ") : "no incidents"}.`;
}

// What a key may do.

const form = document.getElementById("key-form");
const answer = document.getElementById("key-answer");
const REASONS = {
  malformed: "This cannot be a key: it has characters that keys do not have.",
  unknown: "There is no such key.",
  revoked: "This key was revoked.",
  expired: "This key has expired.",
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    answer.replaceChildren(...(await check(document.getElementById("key").value.trim())));
  } catch {
    answer.replaceChildren(verdict("unavailable", "The key could not be checked. Try again."));
  } finally {
    button.disabled = false;
  }
});

async function check(key) {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return [verdict("unavailable", REASONS.malformed)]; // no header could carry it
  }
  const response = await fetch("/key", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}` },
  });
  if (!response.ok) {
    const seconds = response.headers.get("Retry-After");
    const when = seconds ? `Try again in ${count(Number(seconds), "second")}.` : "Try again.";
    return [
      verdict(
        "degraded",
        response.status === 429
          ? `Too many wrong keys came from your address. ${when}`
          : `The key could not be checked. ${when}`,
      ),
    ];
  }
  const found = await response.json();
  return found.valid ? facts(found) : [verdict("unavailable", REASONS[found.reason])];
}

function verdict(state, text) {
  return el("p", `state said ${state}`, text);
}

function facts(found) {
  const list = el("dl", "facts");
  const add = (name, value) => list.append(el("dt", "", name), el("dd", "", value));
  add("Subscription", found.subscription_active ? "active" : "not active: requests are refused");
  add("Plan", found.plan);
  add("Models", found.models.join(", ") || "none");
  add("Stream slots in use", `${found.slots_in_use} of ${found.slots}`);
  add(
    "Of them by this key",
    found.slots_per_key === null
      ? String(found.slots_in_use_by_key)
      : `${found.slots_in_use_by_key} of ${found.slots_per_key}`,
  );
  const state = found.subscription_active ? "available" : "degraded";
  const said = found.subscription_active
    ? "This key is valid."
    : "This key is valid, but its subscription is not active.";
  return [verdict(state, said), list];
}

live({ status: { path: "/status.json", show } });
