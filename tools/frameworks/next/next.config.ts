import path from "node:path";
import type { NextConfig } from "next";

const config: NextConfig = {
  // Latchkey is not bundled, because it loads its threads and binary files by their path, and a bundler would move the
  // code elsewhere.
  serverExternalPackages: ["latchkey"],
  // Next.js would redirect /api/token/ to /api/token: 308.
  skipTrailingSlashRedirect: true,
  turbopack: { root: path.join(import.meta.dirname, "../../..") },
  typescript: { ignoreBuildErrors: true, tsconfigPath: "../generated/tsconfig.json" },
};

// oxlint-disable-next-line import/no-default-export -- what Next.js asks for
export default config;
