/**
 * The values of `node:http`. An import statement would load every export of the module, also `fetch` and the classes of
 * WebSocket, which the service does not use. They take about a tenth of the processor time of a short command.
 */
export const { createServer, METHODS, STATUS_CODES } = process.getBuiltinModule("node:http");
