"use strict";
// The pages work without this file. It exchanges figures when they change, says how long ago, and shows tips.

const EVERY = 2000; // milliseconds between two looks
let mark = null;

function ago(seconds) {
  if (seconds < 45) return "just now";
  for (const [size, unit] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (seconds >= size) {
      const count = Math.floor(seconds / size);
      return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
    }
  }
  return "a minute ago";
}

function tell_times(root) {
  const now = Date.now() / 1000;
  for (const time of root.querySelectorAll("time")) {
    const then = Number(time.dataset.value);
    time.title = new Date(then * 1000).toLocaleString();
    time.textContent = ago(Math.max(0, now - then));
  }
}

function exchange(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  tell_times(fresh);
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (!other || other.innerHTML === part.innerHTML) continue;
    const open = [...part.querySelectorAll("details[open]")].map((details) => details.id);
    const scrolled = [...part.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    part.replaceChildren(...other.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    part.querySelectorAll(".scroll").forEach((box, at) => { box.scrollLeft = scrolled[at] ?? 0; });
  }
}

function say(word) {
  const live = document.getElementById("live");
  live.hidden = false;
  live.textContent = word;
  live.dataset.state = word;
}

async function look() {
  if (document.hidden || !document.querySelector("[data-live]")) return;
  try {
    const answer = await fetch(location.href, { headers: mark ? { "If-None-Match": mark } : {}, cache: "no-store" });
    if (answer.ok) {
      mark = answer.headers.get("etag");
      exchange(await answer.text());
    }
    say(answer.ok || answer.status === 304 ? "live" : "stopped");
  } catch {
    say("stopped");
  }
}

function tips() {
  const box = document.getElementById("tip");
  const show = (event) => {
    const over = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    box.hidden = !over;
    if (!over) return;
    box.textContent = over.dataset.tip;
    const across = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8);
    box.style.left = `${Math.max(8, across)}px`;
    box.style.top = `${Math.max(8, event.clientY - box.offsetHeight - 12)}px`;
  };
  addEventListener("pointermove", show);
  addEventListener("pointerdown", show);
  addEventListener("scroll", () => { box.hidden = true; }, { passive: true });
}

document.querySelector("header nav [aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });
tell_times(document);
tips();
setInterval(() => tell_times(document), 30000);
if (document.querySelector("[data-live]")) {
  setInterval(look, EVERY);
  look();
}
