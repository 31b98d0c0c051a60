import path from "node:path";
import type { NextConfig } from "next";

const config: NextConfig = {
  // Latchkey is loaded as it is: it has threads and binaries, which a bundler would take apart.
  serverExternalPackages: ["latchkey"],
  // Next.js would send /api/token/ on to /api/token: 308.
  skipTrailingSlashRedirect: true,
  turbopack: { root: path.join(import.meta.dirname, "../../..") },
  typescript: { ignoreBuildErrors: true, tsconfigPath: "../generated/tsconfig.json" },
};

// oxlint-disable-next-line import/no-default-export -- what Next.js asks for
export default config;
