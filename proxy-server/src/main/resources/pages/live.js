// What both pages share: the live connection, and small things for building a page.

const AGAIN_MILLIS = 30000;

/**
 * Keeps parts of the page live. Each part is an event of that name with the same JSON as at its
 * path; where events cannot be had, the paths are asked.
 *
 * @param parts name → {path, show}
 */
export function live(parts) {
  const state = document.getElementById("live");
  let last = null;

  function shown(name, json) {
    parts[name].show(json);
    last = new Date();
  }

  function tell(isLive) {
    state.classList.toggle("lost", !isLive);
    state.textContent = isLive
      ? "Live"
      : `Not live. ${last ? `This is of ${time(last, true)}.` : ""} Trying again …`;
  }

  function listen() {
    const events = new EventSource("/events");
    for (const name of Object.keys(parts)) {
      events.addEventListener(name, (event) => shown(name, JSON.parse(event.data)));
    }
    events.onopen = () => tell(true);
    events.onerror = () => {
      tell(false);
      if (events.readyState === EventSource.CLOSED) {
        ask(); // refused: as many listen as may
        setTimeout(listen, AGAIN_MILLIS);
      }
    };
  }

  async function ask() {
    for (const [name, part] of Object.entries(parts)) {
      try {
        const answer = await fetch(part.path);
        if (answer.ok) {
          shown(name, await answer.json());
        }
      } catch {
        return; // not reachable: the next try will tell
      }
    }
  }

  listen();
}

/** An element, with its class and its children: elements, or text. */
export function el(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  made.append(...children);
  return made;
}

/** A time of day, as the reader writes it. */
export function time(date, withSeconds = false) {
  return date.toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    second: withSeconds ? "2-digit" : undefined,
  });
}

/** A number of things, in words. */
export function count(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}
