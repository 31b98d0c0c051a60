import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { basicHeader } from "./serve.ts";

/** A request to create a user. The service has read its head and waits for the body. */
export interface HalfSent {
  /** Sends the body. Returns the response. */
  finish(): Promise<string>;
}

/** Sends the head of the administrator's request to create a user. Resolves when the service asks for the body. */
export async function sendHalf(address: string, password: string): Promise<HalfSent> {
  const { hostname, port } = new URL(address);
  const body = JSON.stringify({ name: "Late", email: "late@example.com" });
  const { authorization } = basicHeader("admin", password);
  const socket = connect(Number(port), hostname);
  const received = async (): Promise<string> => String((await once(socket, "data"))[0]);
  socket.write(
    `POST /users HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const first = await received();
  if (!first.startsWith("HTTP/1.1 100 ")) throw new Error(`The service did not ask for the body:\n${first}`);
  return {
    finish() {
      socket.write(body);
      return received();
    },
  };
}

/** Resolves when the service accepts no more connections. */
export async function untilClosed(address: string): Promise<void> {
  const { hostname, port } = new URL(address);
  const isOpen = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
  while (await isOpen()) await wait(10);
}
