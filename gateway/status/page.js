"use strict";
// Brings the page up to date every 2 s while somebody looks: the gateway makes it
// anew, and only the texts and attributes that differ are put into it, so that
// selections, focus and scroll positions stay. No text becomes markup here.
const every = 2000, patience = 5000;

function update(old, now) {
  for (const name of old.getAttributeNames()) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const name of now.getAttributeNames())
    if (old.getAttribute(name) !== now.getAttribute(name)) old.setAttribute(name, now.getAttribute(name));
  const from = [...old.childNodes], to = [...now.childNodes];
  to.forEach((wanted, i) => {
    const present = from[i];
    if (!present) old.append(wanted);
    else if (present.nodeName !== wanted.nodeName) present.replaceWith(wanted);
    else if (wanted.nodeType === Node.ELEMENT_NODE) update(present, wanted);
    else if (present.data !== wanted.data) present.data = wanted.data;
  });
  from.slice(to.length).forEach(left => left.remove());
}

async function refresh() {
  if (document.hidden) return;
  const stale = document.getElementById("stale");
  try {
    const answer = await fetch("/", {cache: "no-store", signal: AbortSignal.timeout(patience)});
    if (!answer.ok) throw new Error("HTTP " + answer.status);
    const now = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = now.title;
    for (const part of ["#head", "main", "#foot"]) update(document.querySelector(part), now.querySelector(part));
    stale.hidden = true;
  } catch {
    stale.hidden = false;
  }
}

async function keepOn() {
  await refresh();
  setTimeout(keepOn, every);
}
setTimeout(keepOn, every);
document.addEventListener("visibilitychange", refresh);
