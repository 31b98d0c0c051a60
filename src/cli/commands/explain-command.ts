import type { Command } from "commander";
import { readRequest, type RequestOptions } from "../input/request-text.ts";
import { formatTable, show } from "../output.ts";
import { withOperator } from "../with-operator.ts";

/** `latchkey explain` */
export function addExplainCommand(program: Command): void {
  program
    .command("explain")
    .description("tell what each scheme makes of a request, and why; nothing is sent, and no secret is shown")
    .argument("[url]", "what it asks for, like /users or https://api.example/users", "/protected/")
    .option("-X, --method <method>", "its method", "GET")
    .option("-H, --header <header>", "a header field, as many as there are", collect, [])
    .option(
      "-r, --request <file>",
      "the head of a request as text instead, so that no credential is an argument; - for standard input",
    )
    .option("--peer <address>", "where the connection comes from", "127.0.0.1")
    .option("--tls", "the connection is TLS")
    .option("--json", "answer in JSON")
    .action(explain);
}

function collect(header: string, before: readonly string[]): readonly string[] {
  return [...before, header];
}

async function explain(url: string, options: RequestOptions & { readonly json?: boolean }): Promise<void> {
  const arrival = await readRequest(url, options);
  const explanation = await withOperator((operator) => operator.explain(arrival));
  const { outcome, user, why, schemes } = explanation;
  const head = `${outcome}${user === null ? "" : `, user ${user}`}: ${why}`;
  show(
    options.json ?? false,
    explanation,
    [
      head,
      ...(schemes.length === 0 ? [] : ["", ...formatTable(schemes, ["scheme", "saw", "in", "reason", "why"])]),
    ].join("\n"),
  );
}
