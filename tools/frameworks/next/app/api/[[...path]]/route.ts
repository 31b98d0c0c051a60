import { getService } from "../../../service.ts";

async function answer(request: Request): Promise<Response> {
  const service = await getService();
  return service.fetch(request, { peer: null });
}

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
