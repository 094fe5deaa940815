# Builds the shipped binary and puts it alone into a small image.
#
#   docker build -t dowse-search .
#   docker run -i --rm -v "$PWD/documents:/documents:ro" -v dowse-data:/data dowse-search mcp /documents
#
# Over HTTP a configuration with authentication is needed, since the server does not listen beyond
# loopback without one:
#
#   docker run -p 7700:7700 -v "$PWD/dowse.toml:/etc/dowse/dowse.toml:ro" -v dowse-data:/data \
#     dowse-search serve --config /etc/dowse/dowse.toml --listen 0.0.0.0:7700
FROM rust:1.95-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends g++ make \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist --package dowse --bin dowse

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --create-home --home-dir /data dowse
COPY --from=build /src/target/dist/dowse /usr/local/bin/dowse
USER 10001
ENV DOWSE_DATA_DIR=/data
VOLUME ["/data"]
WORKDIR /data
EXPOSE 7700
ENTRYPOINT ["dowse"]
CMD ["--help"]
