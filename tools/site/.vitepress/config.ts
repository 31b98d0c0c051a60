import { readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig, type DefaultTheme } from "vitepress";

const docs = path.join(import.meta.dirname, "../../../docs");

/** Returns the pages in the order of the index of the docs. */
function readSidebar(): DefaultTheme.SidebarItem[] {
  const [, ...kinds] = readFileSync(path.join(docs, "README.md"), "utf8").split(/^## /m);
  return kinds.map((kind) => ({
    text: kind.slice(0, kind.indexOf("\n")),
    items: [...kind.matchAll(/\]\(([^):#]+)\.md\)/g)].map(([, page = ""]) => ({
      text: readTitle(page),
      link: `/docs/${page}`,
    })),
  }));
}

function readTitle(page: string): string {
  const [, title = page] = /^# (.*)$/m.exec(readFileSync(path.join(docs, `${page}.md`), "utf8")) ?? [];
  return title.replaceAll("`", "");
}

// Links with these extensions lead to files, which are copied next to the pages.
process.env["VITE_EXTRA_EXTENSIONS"] = "sql,service,ts,yaml,json";

// oxlint-disable-next-line import/no-default-export -- what VitePress asks for
export default defineConfig({
  title: "Latchkey",
  description: "A resource-oriented HTTP API with pluggable authentication, and the toolkit it is made of",
  lang: "en",
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: "generated/pages",
  outDir: "generated/site",
  cacheDir: "generated/cache",
  ignoreDeadLinks: [/\/(?:examples|deploy)\//, /compose/],
  markdown: { languageAlias: { haproxy: "nginx" } },
  themeConfig: {
    sidebar: readSidebar(),
    outline: [2, 3],
    search: { provider: "local" },
  },
});
