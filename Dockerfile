# The Node of package.json. The image has the libraries that its binary needs. A digest pins what a tag may be moved away from:
# docker build --build-arg NODE_IMAGE=node:26.10.0-slim@sha256:… (docs/operation/running.md).
ARG NODE_IMAGE=node:26.10.0-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY src src
COPY tools/build.ts tools/build.ts
RUN node tools/build.ts
# Nothing of the build is needed any more.
RUN npm ci --ignore-scripts --omit=dev

FROM ${NODE_IMAGE}
# A config file goes to /app too: there, `import … from "latchkey"` finds the package itself.
WORKDIR /app
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json LICENSE ./
RUN install --directory --owner=node --group=node --mode=0700 /data
VOLUME /data
ENV NODE_ENV=production \
    LATCHKEY_HOST=0.0.0.0 \
    LATCHKEY_DATABASE=sqlite:/data/latchkey.db
EXPOSE 8000
# The image's user `node`, as a number: whoever demands a user other than root can see that it is none.
USER 1000:1000
# Not through a shell or npm: SIGTERM has to reach the process.
ENTRYPOINT ["node", "/app/dist/cli/latchkey.js"]
