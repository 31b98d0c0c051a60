// Passkeys on pages (WebAuthn Level 3). Runs after console.js. Where forms.js sends the forms of the page, this script
// only puts the answer of the authenticator into them.
"use strict";

/** Asks the service for a challenge. It is bound to this login only, so it is requested when the user wants it. */
const startLogin = async (form) => {
  const reply = await fetch(form.dataset.start, { method: "POST", headers: { Accept: "application/json" } });
  const { pending, ask, detail } = await reply.json();
  if (!reply.ok) throw new Error(detail);
  form.elements.pending.value = pending;
  return ask;
};

const answerOf = async (form) => {
  const asked = form.dataset.start === undefined ? JSON.parse(form.dataset.ask) : await startLogin(form);
  if (form.dataset.passkey === "create")
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) });
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
};

const reasonOf = ({ name, message }) => {
  if (name === "NotAllowedError") return "The passkey was not used. Try again, or choose another way.";
  if (name === "InvalidStateError") return "This device already has a passkey for this account.";
  if (name === "SecurityError") return "The passkeys of this service belong to another host. Choose another way.";
  return message;
};

/** Shows the reason in the form, and moves the focus there. */
const complain = (form, text) => {
  const note = make("p", { class: "wrong", role: "alert", tabindex: "-1" }, text);
  one(":scope > [role=alert]", form)?.remove();
  form.prepend(note);
  note.focus();
};

/** Sends a form of hidden fields as JSON, on a page without forms.js. */
const post = async (form) => {
  const { path, then } = form.dataset;
  const fields = [...form.elements].filter(({ name }) => name);
  const values = fields.map(({ name, value, dataset }) => [name, dataset.type === "json" ? JSON.parse(value) : value]);
  const reply = await fetch(path, {
    method: "POST",
    headers: { Accept: "text/html", "Content-Type": "application/json" },
    body: JSON.stringify(Object.fromEntries(values)),
  });
  if (reply.ok && then !== undefined) return location.assign(then);
  const page = await pageOf(reply);
  // The page stays, with everything that was typed.
  const reason = one("main [role=alert]", page) ?? one("main h1", page);
  if (!reply.ok) throw new Error(reason?.textContent ?? `Status ${reply.status}`);
  display(partsOf(page));
  one("main h1").focus();
};

const usePasskey = async (form) => {
  if (form.getAttribute("aria-busy") === "true") return;
  if (globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === undefined)
    return complain(form, "This browser has no passkeys. Choose another way.");
  const { credential } = form.elements;
  form.setAttribute("aria-busy", "true");
  try {
    credential.value = JSON.stringify(await answerOf(form));
    if (typeof send === "undefined") await post(form);
  } catch (error) {
    // The next try asks for another answer. With this one, the browser would send the form itself.
    credential.value = "";
    return complain(form, reasonOf(error));
  } finally {
    form.removeAttribute("aria-busy");
  }
  // forms.js reads the fields before this call returns. An answer works once.
  if (typeof send !== "undefined") form.requestSubmit();
  credential.value = "";
};

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (form.dataset.passkey === undefined || form.elements.credential.value !== "") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    void usePasskey(form);
  },
  true,
);
