import type { Command } from "commander";
import type { WholeExplanation } from "../../door/auth.ts";
import { readRequest, type RequestOptions } from "../input/request-text.ts";
import { formatTable, show } from "../output.ts";
import { withOperator } from "../with-operator.ts";

/** Adds `latchkey explain`. */
export function addExplainCommand(program: Command): void {
  program
    .command("explain")
    .description(
      "print the decision of each scheme and of the permission about a request, with reasons; nothing is sent, and no secret is shown",
    )
    .argument("[url]", "the address of the request, like /users or https://api.example/users", "/protected/")
    .option("-X, --method <method>", "its method", "GET")
    .option("-H, --header <header>", "a header field; may be repeated", collect, [])
    .option(
      "-r, --request <file>",
      "a file with the head of a request, so that no credential is an argument; - for standard input",
    )
    .option("--peer <address>", "the address of the peer", "127.0.0.1")
    .option("--tls", "the connection is TLS")
    .option("--json", "print JSON")
    .action(explain);
}

function collect(header: string, before: readonly string[]): readonly string[] {
  return [...before, header];
}

async function explain(url: string, options: RequestOptions & { readonly json?: boolean }): Promise<void> {
  const arrival = await readRequest(url, options);
  const explanation = await withOperator((operator) => operator.explain(arrival));
  const { outcome, user, why, schemes } = explanation;
  show(
    options.json ?? false,
    explanation,
    [
      `${outcome}${user === null ? "" : `, user ${user}`}: ${why}`,
      permissionSentence(arrival.method, explanation),
      ...(schemes.length === 0 ? [] : ["", ...formatTable(schemes, ["scheme", "saw", "in", "reason", "why"])]),
    ].join("\n"),
  );
}

/** Returns a sentence about the route and the permission, which are checked after the schemes. */
export function permissionSentence(method: string, { outcome, route, permission }: WholeExplanation): string {
  if (route === null) return "There is no route at this path: 404 not_found.";
  const place = `${method} ${route}`;
  if (outcome === "open") return `${place} is open to everyone.`;
  if (outcome !== "identified" && outcome !== "nobody") return `${place}: its permission is not checked.`;
  if (permission === null) return `${route} has no ${method}: 405 method_not_allowed.`;
  const { name, action, said, by } = permission;
  const subject = `${place}: the permission "${name}"`;
  switch (said) {
    case "allow":
      return `${subject} allows it (${action}).`;
    case "deny":
      return outcome === "nobody"
        ? `${subject} does not allow it (${action}) to an unknown caller: 401 or 403 authentication_failed.`
        : `${subject} does not allow it (${action}): 403 permission_denied.`;
    case "some rows":
      return `${subject} allows it (${action}) for rows by ${by.join(", ")}. Other rows are hidden: 404 not_found, and lists leave them out.`;
  }
}
