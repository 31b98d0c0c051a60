import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { objectWith } from "../../../core/checking/members.ts";
import { requireArguments } from "../../../core/checking/options.ts";
import { counter, type MetricFamily } from "../../../core/measurement.ts";

/**
 * The destination of log lines. If the destination fails, the process continues without waiting, and the memory for
 * lines is limited.
 */
export interface LogSink {
  /** Writes whole lines. Never throws and never waits. */
  write(text: string): void;
  /** Returns the counters of lost lines, for `/metrics`. */
  read(): readonly MetricFamily[];
}

/** The maximum number of bytes that wait for a reader that has stopped reading. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Writes bytes to a file, and returns how many were written. Throws like `writeSync` of `node:fs`. */
type WriteFile = (bytes: Uint8Array) => number;

/**
 * Returns the sink of a stream such as `process.stdout`. For a pipe, up to 1 MiB waits for its reader. Further lines
 * are dropped, and their number is logged when the reader continues. For a file on a full disk, every write tries
 * again.
 */
export function logSink(stream: Writable & { readonly fd?: number }): LogSink {
  requireArguments("logSink", arguments, { stream: objectWith("a stream, like process.stdout", "write", "on") });
  const { fd } = stream;
  const isFile = fd !== undefined && fstatSync(fd).isFile();
  return isFile ? createSink(fileOutput((bytes) => writeSync(fd, bytes))) : createSink(streamOutput(stream));
}

/** Writes text to a file or a stream. `send` calls `lost` if the write fails, immediately or later. */
interface LogOutput {
  send(text: string, lost: () => void): void;
  errors(): number;
}

/** Returns a sink for a file with another `write`, for tests. */
export function fileSink(write: WriteFile): LogSink {
  return createSink(fileOutput(write));
}

function createSink(output: LogOutput): LogSink {
  let dropped = 0;
  let reportedLines = 0;

  return {
    write(text) {
      const unreportedLines = dropped - reportedLines;
      reportedLines = dropped;
      output.send(unreportedLines === 0 ? text : droppedLine(unreportedLines) + text, () => {
        dropped += text.split("\n").length - 1;
        reportedLines -= unreportedLines;
      });
    },
    read: () => [
      counter("latchkey_log_lines_dropped_total", "Log lines that could not be written and are lost.", dropped),
      counter("latchkey_log_write_errors_total", "Writes of the log that failed.", output.errors()),
    ],
  };
}

function streamOutput(stream: Writable): LogOutput {
  let errors = 0;
  // If the reader of the log stops, the stream emits an error. Without a listener, that error would stop the process.
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

/**
 * Returns the output for a file. It writes synchronously: a file does not block, and the text is kept if the process is
 * killed.
 */
function fileOutput(write: WriteFile): LogOutput {
  let errors = 0;
  let isBroken = false;
  return {
    send(text, lost) {
      // A full disk may have cut off the last line, so the next line starts after a line break.
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
