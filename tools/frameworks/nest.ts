import "reflect-metadata";
import { Body, Controller, HttpCode, Module, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { Request } from "express";
import { requestListener } from "latchkey/http";
import { startService } from "./service.ts";

export const service = await startService();

@Controller("api")
class EchoController {
  @Post("echo")
  @HttpCode(200)
  echo(@Body() body: unknown): unknown {
    return body;
  }
}

@Module({ controllers: [EchoController] })
class AppModule {}

export const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: false });
app.set("trust proxy", "loopback");

// Runs before Nest's own middleware, which is added at the start of the app and reads bodies.
app.use(
  requestListener(service, {
    client: ({ ip, secure }: Request) => ({ address: ip, encrypted: secure }),
  }),
);
