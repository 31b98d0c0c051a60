import assert from "node:assert/strict";

/** Logs a user in at oidc-provider: follows its redirects and forms until it sends the browser back to the service. */
export async function logInAt(issuer: string, address: string, name: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next: { readonly url: string; readonly form?: URLSearchParams } = { url: address };
  for (let step = 0; step < 12; step++) {
    if (!next.url.startsWith(issuer)) return new URL(next.url);
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const posted = next.form === undefined ? {} : { method: "POST", body: next.form };
    const answer: Response = await fetch(next.url, { ...posted, redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, key, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") cookies.delete(key!);
      else cookies.set(key!, value!);
    }
    const location = answer.headers.get("location");
    if (location !== null) {
      next = { url: new URL(location, next.url).href };
      continue;
    }
    // The forms of the development pages: first the login, then the consent.
    const page = await answer.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    assert.ok(action !== undefined, page);
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)![1]!;
    const form = new URLSearchParams({ prompt, ...(prompt === "login" ? { login: name, password: "any" } : {}) });
    next = { url: new URL(action, next.url).href, form };
  }
  throw new Error("The provider does not send the browser back.");
}
