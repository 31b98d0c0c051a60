import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { Command, Option } from "commander";
import { collectPlaces } from "../../src/cli/completion/command-tree.ts";
import { bashScript, fishScript, zshScript } from "../../src/cli/completion/scripts.ts";

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-completion-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Creates a command like ours, with texts that a shell could interpret. */
function program(): Command {
  const latchkey = new Command("latchkey").version("1", "--version", "show the version");
  const user = latchkey.command("user").description("users: it's $(touch hacked) `touch hacked` \\ the list");
  user.command("create").option("-n, --name <name>", "a name").option("--json", "JSON");
  user.command("list").addOption(new Option("--role <role>", "one of them").choices(["user", "admin"]));
  latchkey.command("restore").argument("<file>").option("--log <file>", "where to");
  return latchkey;
}
const places = collectPlaces(program());

/** Returns true if the shell is installed. bash is always installed. */
function has(shell: string): boolean {
  return spawnSync(shell, ["--version"]).status === 0;
}

function bash(...words: readonly string[]): readonly string[] {
  writeFileSync(path.join(folder, "a file.db"), "");
  writeFileSync(path.join(folder, "script.bash"), bashScript(places));
  const typed = words.map((word) => `'${word}'`).join(" ");
  const line = `source script.bash; COMP_WORDS=(latchkey ${typed}); COMP_CWORD=${words.length}; _latchkey; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { cwd: folder, encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.split("\n").filter((word) => word !== "");
}

test("completes commands, options, values of options, and files in bash", () => {
  assert.deepEqual(bash(""), ["user", "restore", "--version", "--help", "-h"]);
  assert.deepEqual(bash("us"), ["user"]);
  assert.deepEqual(bash("user", ""), ["create", "list", "--help", "-h"]);
  assert.deepEqual(bash("user", "create", "--n"), ["--name"]);
  assert.deepEqual(bash("user", "create", "-n", ""), []);
  assert.deepEqual(bash("user", "list", "--role", ""), ["user", "admin"]);
  // `admin` is the value of --role and must not be read as a command.
  assert.deepEqual(bash("user", "list", "--role", "admin", "--r"), ["--role"]);
  assert.deepEqual(bash("restore", "a"), ["a file.db"]);
  assert.deepEqual(bash("restore", "--log", "scr"), ["script.bash"]);
});

test(
  "completes commands, options, values of options, and files in fish",
  { skip: !has("fish") && "no fish on this machine" },
  () => {
    writeFileSync(path.join(folder, "script.fish"), fishScript(places));
    const complete = (typed: string): readonly string[] => {
      const line = `source script.fish; complete -C ${JSON.stringify(typed)}`;
      const { stdout, stderr } = spawnSync("fish", ["--no-config", "-c", line], { cwd: folder, encoding: "utf8" });
      assert.equal(stderr, "");
      return stdout.split("\n").flatMap((each) => (each === "" ? [] : [each.split("\t")[0]!]));
    };

    assert.deepEqual(complete("latchkey us"), ["user"]);
    assert.deepEqual(complete("latchkey user "), ["create", "list"]);
    assert.deepEqual(complete("latchkey user list --role a"), ["admin"]);
    assert.ok(complete("latchkey user create --n").includes("--name"));
    assert.ok(complete("latchkey restore a").includes("a file.db"));
  },
);

test("loads the script in zsh without an error", { skip: !has("zsh") && "no zsh on this machine" }, () => {
  writeFileSync(path.join(folder, "_latchkey"), zshScript(places));

  const { stderr, status } = spawnSync(
    "zsh",
    ["-f", "-c", "autoload -U compinit; compinit -u -D; source ./_latchkey; print $_comps[latchkey]"],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );

  assert.deepEqual([stderr, status], ["", 0]);
});

test("runs no text of a description in a shell", () => {
  bash("");
  const { stdout } = spawnSync("ls", { cwd: folder, encoding: "utf8" });

  assert.doesNotMatch(stdout, /hacked/);
});
