import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { objectWith } from "../../../core/checking/members.ts";
import { requireArguments } from "../../../core/checking/options.ts";
import { counter, type MetricFamily } from "../../../core/measurement.ts";

/** Where the lines of a log go. Nothing that happens there ends the process, holds it up, or takes its memory. */
export interface LogSink {
  /** Takes whole lines. Never throws and never waits. */
  write(text: string): void;
  /** What was lost, for `/metrics`. */
  read(): readonly MetricFamily[];
}

/** What may wait for a reader that has stopped reading. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Gives back how many bytes were written. Throws as `writeSync` of `node:fs` does. */
type WriteFile = (bytes: Uint8Array) => number;

/**
 * The sink of a stream such as `process.stdout`. Behind a pipe, up to 1 MiB waits for its reader; what comes beyond that is dropped, and
 * the number of lines is told in the log when it flows again. A file on a full disk is tried again with every write.
 */
export function logSink(stream: Writable & { readonly fd?: number }): LogSink {
  requireArguments("logSink", arguments, { stream: objectWith("a stream, like process.stdout", "write", "on") });
  const { fd } = stream;
  const isFile = fd !== undefined && fstatSync(fd).isFile();
  return isFile ? sinkOf(fileWay((bytes) => writeSync(fd, bytes))) : sinkOf(streamWay(stream));
}

/** How text gets out. Tells `lost` where it does not, at once or later. */
interface Way {
  send(text: string, lost: () => void): void;
  errors(): number;
}

/** For tests: the way into a file, through another `write`. */
export function fileSink(write: WriteFile): LogSink {
  return sinkOf(fileWay(write));
}

function sinkOf(way: Way): LogSink {
  let dropped = 0;
  let told = 0;

  return {
    write(text) {
      const untold = dropped - told;
      told = dropped;
      way.send(untold === 0 ? text : droppedLine(untold) + text, () => {
        dropped += text.split("\n").length - 1;
        told -= untold;
      });
    },
    read: () => [
      counter("latchkey_log_lines_dropped_total", "Log lines that could not be written and are lost.", dropped),
      counter("latchkey_log_write_errors_total", "Writes of the log that failed.", way.errors()),
    ],
  };
}

function streamWay(stream: Writable): Way {
  let errors = 0;
  // Without a listener the process would end where whoever reads the log does.
  stream.on("error", () => errors++);
  return {
    send(text, lost) {
      if (stream.destroyed || !stream.writable || stream.writableLength > MAX_WAITING_BYTES) return lost();
      stream.write(text, (error) => {
        if (error) lost();
      });
    },
    errors: () => errors,
  };
}

/** Written at once: a file keeps nobody waiting, and what is written is there when the process is killed. */
function fileWay(write: WriteFile): Way {
  let errors = 0;
  let isBroken = false;
  return {
    send(text, lost) {
      // What was cut off by a disk that was full must not begin the next line.
      let rest: Uint8Array = Buffer.from(isBroken ? `\n${text}` : text);
      try {
        while (rest.length > 0) rest = rest.subarray(write(rest));
        isBroken = false;
      } catch {
        errors++;
        isBroken ||= rest.length < Buffer.byteLength(text);
        lost();
      }
    },
    errors: () => errors,
  };
}

function droppedLine(lines: number): string {
  const message = `${lines} lines of the log could not be written and are lost.`;
  return `${JSON.stringify({ time: new Date().toISOString(), level: "error", event: "notice", message })}\n`;
}
