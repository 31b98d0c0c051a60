export async function POST(request: Request): Promise<Response> {
  return Response.json(await request.json());
}
