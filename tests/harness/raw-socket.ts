import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { Listener, ListenOptions } from "../../src/door/http.ts";
import { listen } from "../../src/door/index.ts";
import { serve, type API, type ServeOptions } from "./serve.ts";

/** A whole service on a socket, with requests as octets. */
export interface RawSocket {
  readonly api: API;
  readonly listener: Listener;
  open(): Promise<Socket>;
  /** Reads until `isEnough` matches, or until the connection is closed. */
  read(socket: Socket, isEnough?: RegExp): Promise<string>;
  /** Sends a request and reads until the connection is closed. */
  send(text: string): Promise<string>;
}

export async function rawSocket(
  t: TestContext,
  served: ServeOptions = {},
  options: Omit<ListenOptions, "port"> = {},
): Promise<RawSocket> {
  const api = await serve(t, served);
  const listener = await listen(api.service, { port: 0, ...options });
  t.after(() => listener.close(0));
  const open = async (): Promise<Socket> => {
    const socket = connect(listener.port, "127.0.0.1");
    // Ignores the reset of a refused connection. The data before it is the response.
    socket.on("error", () => undefined);
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const read = (socket: Socket, isEnough: RegExp = /$^/): Promise<string> =>
    new Promise((resolve) => {
      let said = "";
      socket.on("data", (chunk) => {
        said += String(chunk);
        if (isEnough.test(said)) resolve(said);
      });
      socket.on("close", () => resolve(said));
    });
  return {
    api,
    listener,
    open,
    read,
    async send(text) {
      const socket = await open();
      socket.write(text);
      return read(socket);
    },
  };
}
