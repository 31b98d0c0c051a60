import type { PageParts } from "../../../core/html/page.ts";

/** Returns the links in the bar of the documentation. `current` is the path of this page, or of the page above it. */
export function docsNav(current: string): PageParts["nav"] {
  const links = [
    { text: "Operations", path: "/docs" },
    { text: "Problems", path: "/problems" },
    { text: "OpenAPI", path: "/openapi.json" },
  ];
  return { label: "Documentation", links: links.map((link) => ({ ...link, isCurrent: link.path === current })) };
}
