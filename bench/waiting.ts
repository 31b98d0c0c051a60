/**
 * Sends a request to `/livez` a thousand times a second, one at a time, and measures the longest wait for a response.
 * Delays of this process between two requests do not count. On a message from its parent process, it sends back the
 * longest wait so far, in milliseconds, and starts again from zero.
 */
import { connect } from "node:net";

const { hostname, port, host } = new URL(process.argv[2] ?? "");
const request = Buffer.from(`GET /livez HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
const socket = connect(Number(port), hostname).setNoDelay(true);
let askedAt = 0;
let longest = 0;

function ask(): void {
  askedAt = performance.now();
  socket.write(request);
}

socket.on("connect", ask);
socket.on("data", () => {
  longest = Math.max(longest, performance.now() - askedAt);
  setTimeout(ask, 1);
});
process.on("message", () => {
  process.send!(longest);
  longest = 0;
});
process.on("disconnect", () => socket.destroy());
