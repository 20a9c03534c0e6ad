FROM golang:1.26 AS builder
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
ARG COMMIT=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" \
    -o /kafka-dis-gateway ./cmd/kafka-dis-gateway
RUN mkdir /data

FROM scratch
COPY --from=builder /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=builder /kafka-dis-gateway /kafka-dis-gateway
# Where dev and embedded-dis keep their data; serve writes nothing anywhere.
COPY --from=builder --chown=65532:65532 /data /data
# The health check asks at the address that every command here listens on; dev has
# no admin address of its own.
ENV KDG_ADMIN_LISTEN=127.0.0.1:9644 \
    KDG_DATA_DIR=/data
USER 65532:65532
EXPOSE 9092 9644
STOPSIGNAL SIGTERM
# Whether it lives, not whether it is ready: what replaces unhealthy containers
# must not do so because DIS is away.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/kafka-dis-gateway", "health"]
ENTRYPOINT ["/kafka-dis-gateway"]
# Clients on localhost, which in a pod is that of all its containers.
CMD ["serve"]
