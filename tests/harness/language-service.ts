import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** One file in the language service of the compiler, with the requests that an editor sends. */
export interface Opened {
  /** Returns the text over a place: the lines of its first code block, which is the type. */
  hover(offset: number): Promise<readonly string[]>;
  /** Returns the mistakes: the line number (from 0) and the first line of each message. */
  mistakes(): Promise<readonly (readonly [line: number, message: string])[]>;
  close(): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const root = path.join(import.meta.dirname, "../..");

/** Opens a text in the language service of the compiler (the protocol of editors, LSP 3.17). */
export async function openInEditor(text: string): Promise<Opened> {
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const child = spawn(process.execPath, [tsc, "--lsp", "--stdio"], { cwd: root, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (answer: Answer) => void>();
  const uri = pathToFileURL(path.join(root, "tests/toolkit/opened-in-editor.ts")).href;
  const textDocument = { uri };
  let lastId = 0;

  const send = (message: object): void => {
    const content = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
  };
  const ask = async (method: string, params?: object): Promise<unknown> => {
    const id = ++lastId;
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      send({ id, method, params });
    });
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };

  let unread = Buffer.alloc(0);
  child.stdout.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const head = unread.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(unread.subarray(0, Math.max(head, 0)).toString())?.[1]);
      if (head === -1 || unread.length < head + 4 + length) return;
      const message = JSON.parse(unread.subarray(head + 4, head + 4 + length).toString()) as Answer & {
        readonly method?: string;
      };
      unread = unread.subarray(head + 4 + length);
      // The service waits for a response to each of its requests to the editor.
      if (message.method !== undefined && message.id !== undefined) send({ id: message.id, result: null });
      else if (message.id !== undefined) waiting.get(message.id)?.(message);
    }
  });

  const capabilities = { textDocument: { hover: { contentFormat: ["markdown"] }, diagnostic: {} } };
  await ask("initialize", { processId: process.pid, rootUri: pathToFileURL(root).href, capabilities });
  send({ method: "initialized", params: {} });
  const document = { uri, languageId: "typescript", version: 1, text };
  send({ method: "textDocument/didOpen", params: { textDocument: document } });

  return {
    async hover(offset) {
      const before = text.slice(0, offset).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)!.length };
      const shown = (await ask("textDocument/hover", { textDocument, position })) as {
        readonly contents: { readonly value: string };
      } | null;
      const [, code = ""] = /^```\w+\n([\s\S]*?)\n```/.exec(shown?.contents.value ?? "") ?? [];
      return code.split("\n");
    },
    async mistakes() {
      const report = (await ask("textDocument/diagnostic", { textDocument })) as {
        readonly items: readonly {
          readonly range: { readonly start: { readonly line: number } };
          readonly message: string;
        }[];
      };
      return report.items.map(({ range, message }) => [range.start.line, message] as const);
    },
    async close() {
      const ended = once(child, "exit");
      await ask("shutdown");
      send({ method: "exit" });
      child.stdin.end();
      await ended;
    },
  };
}
